import { isNativeError } from 'node:util/types';
import { messageOf } from '../../platform/errors';

/**
 * Why a connection is not to be had though the broker may well run: what is wrong, and what to set. Waiting alone heals none of it,
 * but a change on either side may, so it is tried again.
 */
export interface ConnectionTrouble {
  code: string;
  detail: string;
}

/** What the clients and Node put on their errors. */
interface Word extends Error {
  /** Node's and OpenSSL's; kafkajs passes it on. */
  code?: unknown;
  /** Kafka's own name of an error, by kafkajs. */
  type?: unknown;
  /** The same by @platformatic/kafka. */
  apiId?: unknown;
}

/** Every error in there, the innermost first; @platformatic/kafka nests them as causes and aggregates. */
export function* leaves(error: unknown): Generator<Word> {
  if (!isNativeError(error)) return;
  const { errors } = error as AggregateError;
  if (Array.isArray(errors)) for (const part of errors) yield* leaves(part);
  if (isNativeError(error.cause)) yield* leaves(error.cause);
  yield error;
}

const ACCOUNT: ConnectionTrouble = {
  code: 'authentication-failed',
  detail:
    'the broker does not accept the name and password: check KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD (for administration KAFKA_ADMIN_USERNAME and KAFKA_ADMIN_PASSWORD)',
};

const BY_KAFKA: Readonly<Record<string, ConnectionTrouble>> = {
  SASL_AUTHENTICATION_FAILED: ACCOUNT,
  UNSUPPORTED_SASL_MECHANISM: {
    code: 'sasl-mechanism-refused',
    detail: 'the broker does not take this SASL mechanism on this port: set KAFKA_SASL_MECHANISM to one that it takes',
  },
  ILLEGAL_SASL_STATE: {
    code: 'sasl-not-expected',
    detail:
      "the broker asks for no account on this port, or ends sessions within 4 s: leave KAFKA_SASL_MECHANISM empty, choose another port, or raise the broker's connections.max.reauth.ms",
  },
};

const UNTRUSTED: ConnectionTrouble = {
  code: 'broker-certificate-untrusted',
  detail:
    "no authority that we trust has signed the broker's certificate: set KAFKA_CA_FILE to the PEM file of the one that did",
};
const EXPIRED: ConnectionTrouble = {
  code: 'broker-certificate-expired',
  detail: "the broker's certificate is not valid today: its operator must renew it (or this machine's clock is wrong)",
};
const NO_TLS: ConnectionTrouble = {
  code: 'tls-not-spoken',
  detail:
    'the broker ends the connection where TLS should begin: set KAFKA_SSL=false or choose its port with TLS in KAFKA_BROKERS',
};
/** What a plain client meets at a port with TLS. */
export const TLS_EXPECTED: ConnectionTrouble = {
  code: 'tls-expected',
  detail: 'the broker speaks TLS on this port: set KAFKA_SSL=true, or choose its port without in KAFKA_BROKERS',
};

const BY_NODE: Readonly<Record<string, ConnectionTrouble>> = {
  CERT_SIGNATURE_FAILURE: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  CERT_UNTRUSTED: UNTRUSTED,
  CERT_REJECTED: UNTRUSTED,
  INVALID_CA: UNTRUSTED,
  CERT_HAS_EXPIRED: EXPIRED,
  CERT_NOT_YET_VALID: EXPIRED,
  ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: NO_TLS,
  [TLS_EXPECTED.code]: TLS_EXPECTED,
};

/** Undefined: there is no more to say than that the broker can't be reached, or it was another matter. */
export function connectionTrouble(error: unknown): ConnectionTrouble | undefined {
  for (const word of leaves(error)) {
    const trouble = troubleOf(word);
    if (trouble) return trouble;
  }
  return undefined;
}

function troubleOf(word: Word): ConnectionTrouble | undefined {
  const { code, type, apiId, message, name } = word;
  const kafka = BY_KAFKA[String(apiId ?? type)];
  if (kafka) return kafka;
  if (name === 'KafkaJSSASLAuthenticationError') return isAway(message) ? undefined : ACCOUNT;
  if (message === 'Broker requires TLS.') return TLS_EXPECTED;
  if (message.includes('before secure TLS connection was established') || message.startsWith('TLS handshake failed'))
    return NO_TLS;
  if (typeof code !== 'string') return undefined;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return wrongHost(message);
  if (/^ERR_SSL_.*ALERT/.test(code)) return alert(code);
  return BY_NODE[code];
}

/** kafkajs calls whatever happens while it authenticates a failure of that, the end of the connection included. */
const isAway = (message: string): boolean =>
  /failed: (Closed connection|Not connected|Connection |Request \w+\(.*timed out)/.test(message);

const wrongHost = (message: string): ConnectionTrouble => ({
  code: 'broker-host-mismatch',
  detail: `the broker's certificate is for another host (${messageOf(message, 200).replace(/^.*altnames: Host: /, '')}): name the brokers in KAFKA_BROKERS, and in the broker's advertised.listeners, as the certificate does`,
});

/** The broker's word by TLS, such as `ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE`. */
function alert(code: string): ConnectionTrouble {
  const said = code
    .replace(/^.*ALERT_/, '')
    .replaceAll('_', ' ')
    .toLowerCase();
  return /certificate|unknown ca|access denied/.test(said)
    ? {
        code: 'client-certificate-refused',
        detail: `the broker wants a certificate of ours and does not accept what it got ("${said}"): check KAFKA_CERT_FILE and KAFKA_KEY_FILE, that the certificate is valid today and signed by an authority that the broker trusts`,
      }
    : { code: 'tls-failed', detail: `the broker refuses TLS with us ("${said}")` };
}
