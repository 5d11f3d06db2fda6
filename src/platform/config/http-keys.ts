import { addressRanges, bytes, integer, type Key, text } from './parsers';

/** Keys of the two HTTP listeners, and of what protects the API. */
export const HTTP_KEYS = {
  httpHost: {
    env: 'HTTP_HOST',
    parse: text(255),
    fallback: '127.0.0.1',
    unit: 'address',
    doc: 'Where the REST API listens. Loopback only by default: keys and tokens travel with each request, so put TLS in front of it before it is opened.',
  },
  httpPort: {
    env: 'HTTP_PORT',
    parse: integer(0, 65535),
    fallback: '3000',
    unit: 'port',
    doc: 'Port of the REST API; 0 takes a free one.',
  },
  httpBodyLimit: {
    env: 'HTTP_BODY_LIMIT_BYTES',
    parse: bytes(1024, 16 * 1024 * 1024),
    fallback: '1048576',
    unit: 'bytes',
    doc: 'Largest request body. 1 MiB, since an order must also fit a Kafka message.',
  },
  httpTrustedProxies: {
    env: 'HTTP_TRUSTED_PROXIES',
    parse: addressRanges,
    fallback: '',
    unit: 'address list',
    doc: "Addresses or ranges (10.0.0.0/8) of your own proxies, separated by commas: from these alone X-Forwarded-For is believed, so that limits and the audit see the caller's address. Empty: from nobody, and behind a proxy everybody has the proxy's address.",
  },
  rateLimitPerSecond: {
    env: 'RATE_LIMIT_PER_SECOND',
    parse: integer(1, 1_000_000),
    fallback: '5000',
    unit: 'requests/second',
    doc: 'Most requests of one caller (key or person), by each process; as many at once. Counted in the memory of the process: two processes allow twice as much. 5000: above what one process was measured to take, so that it stops a run-away program only. Lower it where callers must not crowd out each other.',
  },
  rateLimitPerAddress: {
    env: 'RATE_LIMIT_PER_ADDRESS',
    parse: integer(1, 1_000_000),
    fallback: '10000',
    unit: 'requests/second',
    doc: 'The same for one network address (of IPv6: its /64), counted before anybody looks at who calls. Above the limit of a caller, since many stand behind one address.',
  },
  loginFailuresPerMinute: {
    env: 'LOGIN_FAILURES_PER_MINUTE',
    parse: integer(1, 1_000_000),
    fallback: '60',
    unit: 'requests/minute',
    doc: 'Refused keys and tokens of one address until further ones get 429. Who sends a good one still comes in: else one wrong key behind a proxy would lock out all others.',
  },
  managementHost: {
    env: 'MANAGEMENT_HOST',
    parse: text(255),
    fallback: '127.0.0.1',
    unit: 'address',
    doc: 'Where the probes and /metrics listen, without keys: who probes has none, and nothing of documents or secrets is shown there. In Kubernetes: 0.0.0.0, and a network policy.',
  },
  managementPort: {
    env: 'MANAGEMENT_PORT',
    parse: integer(0, 65535),
    fallback: '3001',
    unit: 'port',
    doc: 'Port of /livez, /readyz, /startupz and /metrics, apart from the API so that it is never exposed with it.',
  },
} satisfies Record<string, Key<unknown>>;
