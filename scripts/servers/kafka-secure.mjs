import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { kafkaId, KafkaNode } from './kafka-node.mjs';
import { plainProperties, secureProperties } from './kafka-properties.mjs';
import { freePort } from './ports.mjs';

/** A broker that lets nobody in without TLS, an account and an ACL. `access` is what callers need to reach it. */
export async function secureNode({ program, folder, port, remove, accounts = [], extraProperties, heapMb, load }) {
  // Loaded here alone: a plain broker starts 200 ms sooner without them.
  const [{ makeAuthority }, { Admin }] = await Promise.all([import('./certs.mjs'), import('@platformatic/kafka')]);
  const [internalPort, controllerPort] = [await freePort(), await freePort()];
  const admin = { username: 'admin', password: randomBytes(12).toString('hex') };
  const caFile = join(folder, 'ca.pem');
  const keystore = join(folder, 'broker.keystore.pem');
  mkdirSync(folder, { recursive: true });
  const authority = await makeAuthority();
  const { key, cert } = await authority.issue('localhost');
  writeFileSync(caFile, authority.pem);
  writeFileSync(keystore, key + cert + authority.pem, { mode: 0o600 });

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
      ...secureProperties({ port, internalPort, controllerPort, keystore, admin }),
      ...extraProperties,
    },
    formatArgs: [
      ...['--standalone', '-t', kafkaId(randomBytes(16))],
      ...[admin, ...accounts].flatMap(({ username, password }) => [
        '--add-scram',
        `SCRAM-SHA-512=[name=${username},iterations=4096,password=${password}]`,
      ]),
    ],
    brokersSeen: async () => {
      const asked = new Admin(client);
      asked.on('error', () => undefined);
      try {
        return (await asked.metadata({ topics: [] })).brokers.size;
      } catch {
        return 0;
      } finally {
        await asked.close().catch(() => undefined);
      }
    },
  });
  return Object.assign(node, { brokers: `localhost:${port}`, access: { caFile, admin, internalBrokers } });
}
