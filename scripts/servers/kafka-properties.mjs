/** Sized for a laptop: 128 MB less than the defaults. */
const SMALL = {
  'log.cleaner.dedupe.buffer.size': 4194304,
  'log.cleaner.io.buffer.size': 65536,
  'num.network.threads': 2,
  'num.io.threads': 2,
  'background.threads': 2,
  'group.coordinator.threads': 1,
  'group.coordinator.background.threads': 1,
  'num.recovery.threads.per.data.dir': 1,
  'metadata.log.segment.bytes': 8388608,
  'log.segment.bytes': 67108864,
  'offsets.topic.segment.bytes': 8388608,
  'transaction.state.log.segment.bytes': 8388608,
  'log.index.size.max.bytes': 1048576,
};

/** Node `id` of a cluster of `nodes` (`{ id, port, controllerPort }`), each broker and controller at once. */
export function plainProperties({ id, nodes, folder }) {
  const { port, controllerPort } = nodes.find((node) => node.id === id);
  const copies = Math.min(3, nodes.length);
  const enough = Math.min(2, copies);
  return {
    'process.roles': 'broker,controller',
    'node.id': id,
    listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    'controller.listener.names': 'CONTROLLER',
    'controller.quorum.bootstrap.servers': nodes.map((node) => `127.0.0.1:${node.controllerPort}`).join(','),
    'inter.broker.listener.name': 'PLAINTEXT',
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'log.dirs': folder,
    // A killed broker is gone after 2 s instead of 9, and one that comes back is taken in as fast.
    'broker.session.timeout.ms': 2000,
    'broker.heartbeat.interval.ms': 500,
    'default.replication.factor': copies,
    'min.insync.replicas': enough,
    'offsets.topic.replication.factor': copies,
    'offsets.topic.num.partitions': copies,
    'transaction.state.log.replication.factor': copies,
    'transaction.state.log.min.isr': enough,
    'transaction.state.log.num.partitions': copies,
    'share.coordinator.state.topic.replication.factor': copies,
    'share.coordinator.state.topic.min.isr': enough,
    'share.coordinator.state.topic.num.partitions': 1,
    'group.initial.rebalance.delay.ms': 0,
    'num.partitions': 1,
    'auto.create.topics.enable': false,
    ...SMALL,
  };
}

const jaas = (module, entries) =>
  `org.apache.kafka.common.security.${module} required${Object.entries(entries)
    .map(([name, value]) => ` ${name}="${value}"`)
    .join('')};`;

/**
 * What a guarded broker adds: listener PARTNER (TLS + SCRAM-SHA-512, who has no ACL may do nothing), INTERNAL (SCRAM
 * without TLS, for administration); where they are asked for, MTLS (who shows a certificate is the name in its CN, behind
 * the same ACLs) and, for tests of what is behind the guard, OPEN (nobody is asked, everything is allowed). The controller's own channel can't use SCRAM, whose accounts it holds: PLAIN there.
 */
export function secureProperties({ port, internalPort, controllerPort, keystore, admin, openPort, mtls, wirePort }) {
  const scram = 'scram.ScramLoginModule';
  const open = openPort ? `,OPEN://127.0.0.1:${openPort}` : '';
  const certified = (host) => (mtls ? `,MTLS://${host}:${mtls.port}` : '');
  return {
    listeners: `INTERNAL://127.0.0.1:${internalPort},CONTROLLER://127.0.0.1:${controllerPort},PARTNER://127.0.0.1:${port}${open}${certified('127.0.0.1')}`,
    'advertised.listeners': `INTERNAL://127.0.0.1:${internalPort},PARTNER://localhost:${wirePort ?? port}${open}${certified('localhost')}`,
    'inter.broker.listener.name': 'INTERNAL',
    'listener.security.protocol.map':
      'INTERNAL:SASL_PLAINTEXT,CONTROLLER:SASL_PLAINTEXT,PARTNER:SASL_SSL,OPEN:PLAINTEXT,MTLS:SSL',
    'sasl.enabled.mechanisms': 'SCRAM-SHA-512',
    'sasl.mechanism.controller.protocol': 'PLAIN',
    'sasl.mechanism.inter.broker.protocol': 'SCRAM-SHA-512',
    'listener.name.controller.sasl.enabled.mechanisms': 'PLAIN',
    'listener.name.controller.plain.sasl.jaas.config': jaas('plain.PlainLoginModule', {
      username: 'controller',
      password: admin.password,
      user_controller: admin.password,
    }),
    'listener.name.internal.sasl.enabled.mechanisms': 'SCRAM-SHA-512',
    'listener.name.internal.scram-sha-512.sasl.jaas.config': jaas(scram, admin),
    'listener.name.partner.sasl.enabled.mechanisms': 'SCRAM-SHA-512',
    'listener.name.partner.scram-sha-512.sasl.jaas.config': jaas(scram, {}),
    'listener.name.partner.ssl.keystore.type': 'PEM',
    'listener.name.partner.ssl.keystore.location': keystore,
    ...(mtls
      ? {
          'listener.name.mtls.ssl.keystore.type': 'PEM',
          'listener.name.mtls.ssl.keystore.location': keystore,
          'listener.name.mtls.ssl.truststore.type': 'PEM',
          'listener.name.mtls.ssl.truststore.location': mtls.trustFile,
          'listener.name.mtls.ssl.client.auth': 'required',
          'listener.name.mtls.ssl.principal.mapping.rules': 'RULE:^CN=([^,]+).*$/$1/,DEFAULT',
        }
      : {}),
    'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    'allow.everyone.if.no.acl.found': false,
    // Nobody is anonymous but on the open listener.
    'super.users': `User:${admin.username};User:controller${openPort ? ';User:ANONYMOUS' : ''}`,
  };
}

export const render = (properties) =>
  Object.entries(properties)
    .map(([name, value]) => `${name}=${String(value).replaceAll('\\', '\\\\')}\n`)
    .join('');
