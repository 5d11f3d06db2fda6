import { readFileSync } from 'node:fs';
import { compatibilityPartitioner, Producer } from '@platformatic/kafka';
import type { Access, Mechanism } from './access';

/** How every client of the simulator reaches the brokers. Spread when a client is made, so that each has what counts then. */
export interface Connection {
  readonly clientId: string;
  bootstrapBrokers: string[];
  timeout: number;
  connectTimeout: number;
  tls?: { ca?: Buffer; cert?: Buffer; key?: Buffer };
  sasl?: { mechanism: Mechanism; username: () => Promise<string>; password: () => Promise<string> };
}

/** @param name client id of one without an account; who has one is called after it, so that a list of clients tells accounts apart */
export function connectionOf(
  { brokers, tls, account }: Pick<Access, 'brokers' | 'tls' | 'account'>,
  name: string,
): Connection {
  const credentials = account?.credentials;
  return {
    get clientId() {
      return credentials?.().username ?? name;
    },
    bootstrapBrokers: brokers,
    timeout: 5000,
    // TLS and SCRAM are several round trips, and on a busy machine some CPU.
    connectTimeout: account || tls ? 10_000 : 5000,
    ...(tls ? { tls: filesOf(tls) } : {}),
    ...(account && credentials
      ? {
          sasl: {
            mechanism: account.mechanism,
            username: () => Promise.resolve().then(() => credentials().username),
            password: () => Promise.resolve().then(() => credentials().password),
          },
        }
      : {}),
  };
}

function filesOf({ ca, cert, key }: NonNullable<Access['tls']>): NonNullable<Connection['tls']> {
  return {
    ...(ca === undefined ? {} : { ca: readFileSync(ca) }),
    ...(cert === undefined ? {} : { cert: readFileSync(cert) }),
    ...(key === undefined ? {} : { key: readFileSync(key) }),
  };
}

export type RecordProducer = Producer<string | Buffer, string | Buffer, string | Buffer, string | Buffer>;

/** Text or bytes, as they come. */
const toBytes = (value?: string | Buffer): Buffer | undefined =>
  typeof value === 'string' ? Buffer.from(value) : value;
const SERIALIZERS = { key: toBytes, value: toBytes, headerKey: toBytes, headerValue: toBytes };

/** Tries once: whoever sends tries again, with a new one. */
export function makeProducer(connection: Connection): RecordProducer {
  const producer: RecordProducer = new Producer({
    ...connection,
    serializers: SERIALIZERS,
    // Java's rule for keys; the library's own default differs from it.
    partitioner: compatibilityPartitioner,
    retries: 0,
  });
  producer.on('error', () => undefined);
  return producer;
}

/** The partition of a key among so many, by Java's rule. */
export const partitionFor = (key: string, partitions: number): number =>
  compatibilityPartitioner({ topic: '', key: Buffer.from(key) }, Buffer.from(key)) % partitions;
