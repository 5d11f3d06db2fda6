import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { Config } from '../../platform/config';
import { messageOf, NonRetriableError } from '../../platform/errors';

/** Whom we trust and who we are, in PEM files. Empty or absent: the public authorities, and no certificate of our own. */
export type TlsPaths = Pick<Config, 'kafkaCaFile'> & Partial<Pick<Config, 'kafkaCertFile' | 'kafkaKeyFile'>>;

/** The texts of the files. */
export interface TlsParts {
  ca?: string;
  cert?: string;
  key?: string;
}

/**
 * TLS options whose values are read from their files whenever they are looked at; both clients do so at each new connection, so
 * that a renewed certificate or authority counts from the next one on. While the files can't be used (one is replaced before the
 * other, or half written) the last good ones stand. Throws NonRetriableError for files that can't be used from the start:
 * `kafka-ca-unreadable`, `kafka-certificate-unreadable`.
 */
export function tlsFiles(paths: TlsPaths): TlsParts {
  let good = usable(paths);
  const current = (): TlsParts => {
    try {
      good = usable(paths, good);
    } catch {
      // The broker's refusal says so when they no longer serve.
    }
    return good;
  };
  const live = {};
  for (const name of ['ca', 'cert', 'key'] as const) {
    if (good[name] !== undefined) Object.defineProperty(live, name, { enumerable: true, get: () => current()[name] });
  }
  return live;
}

/** @param before what was found to be good already; parsing it again at each connection would cost a millisecond */
function usable({ kafkaCaFile, kafkaCertFile = '', kafkaKeyFile = '' }: TlsPaths, before: TlsParts = {}): TlsParts {
  const parts: TlsParts = {
    ...(kafkaCaFile ? { ca: textOf('KAFKA_CA_FILE', kafkaCaFile) } : {}),
    ...(kafkaCertFile ? { cert: textOf('KAFKA_CERT_FILE', kafkaCertFile) } : {}),
    ...(kafkaKeyFile ? { key: textOf('KAFKA_KEY_FILE', kafkaKeyFile) } : {}),
  };
  if (parts.ca === before.ca && parts.cert === before.cert && parts.key === before.key) return before;
  // TLS would take a file without certificates for an authority that trusts nobody.
  checked('kafka-ca-unreadable', `KAFKA_CA_FILE="${kafkaCaFile}" holds no certificate in PEM`, () => {
    if (parts.ca !== undefined) new X509Certificate(parts.ca);
  });
  const own = `KAFKA_CERT_FILE="${kafkaCertFile}" and KAFKA_KEY_FILE="${kafkaKeyFile}"`;
  checked('kafka-certificate-unreadable', `${own} are no certificate and its key in PEM`, () => {
    createSecureContext(parts);
  });
  return parts;
}

function textOf(env: 'KAFKA_CA_FILE' | 'KAFKA_CERT_FILE' | 'KAFKA_KEY_FILE', path: string): string {
  const code = env === 'KAFKA_CA_FILE' ? 'kafka-ca-unreadable' : 'kafka-certificate-unreadable';
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new NonRetriableError(code, `${env}="${path}" can't be read: ${messageOf(error)}.`, { cause: error });
  }
}

function checked(code: string, what: string, check: () => void): void {
  try {
    check();
  } catch (error) {
    throw new NonRetriableError(code, `${what}: ${messageOf(error)}.`, { cause: error });
  }
}
