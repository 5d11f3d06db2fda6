import { readFileSync } from 'node:fs';
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
