import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { brokerCertificate, clientAuthority, keptAccount } from './kafka-access.mjs';
import { kafkaId, KafkaNode, storedControllerPort } from './kafka-node.mjs';
import { plainProperties, secureProperties } from './kafka-properties.mjs';
import { freePort } from './ports.mjs';

/**
 * A broker that lets nobody in without TLS, an account and an ACL, but for the listener that `open` asks for. `access` is
 * what callers need to reach it. On data of before, its certificate and accounts are those of before.
 */
export async function secureNode({
  program,
  folder,
  port,
  remove,
  accounts = [],
  open,
  mtls,
  wirePort,
  extraProperties,
  heapMb,
  load,
}) {
  mkdirSync(folder, { recursive: true });
  // Loaded here alone: a plain broker starts 200 ms sooner without them.
  const [{ caFile, keystore }, { Admin }] = await Promise.all([
    brokerCertificate(folder),
    import('@platformatic/kafka'),
  ]);
  const [internalPort, controllerPort] = [await freePort(), storedControllerPort(folder) ?? (await freePort())];
  const openPort = open ? await freePort() : undefined;
  const certified = mtls ? { port: await freePort(), ...(await clientAuthority(folder)) } : undefined;
  const admin = keptAccount(folder, 'admin');

  const internalBrokers = `127.0.0.1:${internalPort}`;
  const client = {
    clientId: 'parley-infra',
    bootstrapBrokers: [internalBrokers],
    sasl: { mechanism: 'SCRAM-SHA-512', ...admin },
    retries: 0,
    connectTimeout: 1000,
  };
  const node = new KafkaNode({
    program,
    folder,
    remove,
    heapMb,
    load,
    properties: {
      ...plainProperties({ id: 1, nodes: [{ id: 1, port, controllerPort }], folder: join(folder, 'data') }),
      ...secureProperties({ port, internalPort, controllerPort, keystore, admin, openPort, mtls: certified, wirePort }),
      ...extraProperties,
    },
    formatArgs: [
      ...['--standalone', '-t', kafkaId(randomBytes(16))],
      ...[admin, ...accounts].flatMap(({ username, password }) => [
        '--add-scram',
        `SCRAM-SHA-512=[name=${username},iterations=4096,password=${password}]`,
      ]),
    ],
    brokersSeen: () => brokersSeenBy(Admin, client),
  });
  return Object.assign(node, {
    brokers: `localhost:${wirePort ?? port}`,
    access: {
      ...{ caFile, admin, internalBrokers },
      openBrokers: openPort && `127.0.0.1:${openPort}`,
      mtlsBrokers: certified && `localhost:${certified.port}`,
      issueClient: certified?.issueClient,
    },
  });
}

/** 0 while it does not answer. */
async function brokersSeenBy(Admin, client) {
  const asked = new Admin(client);
  asked.on('error', () => undefined);
  try {
    return (await asked.metadata({ topics: [] })).brokers.size;
  } catch {
    return 0;
  } finally {
    await asked.close().catch(() => undefined);
  }
}
