/** Everything that an error holds: what caused it, and what it gathered. */
function* within(error: unknown, depth = 0): Generator<Record<string, unknown>> {
  if (typeof error !== 'object' || error === null || depth > 8) return;
  const one = error as Record<string, unknown>;
  yield one;
  yield* within(one['cause'], depth + 1);
  if (Array.isArray(one['errors'])) for (const inner of one['errors'] as unknown[]) yield* within(inner, depth + 1);
}

const WORDS: readonly (readonly [RegExp, string])[] = [
  [
    /^PLT_KFK_AUTHENTICATION$/,
    'the broker refuses the account or its password: check the name, the password, and that it was not retired',
  ],
  [
    /^TOPIC_AUTHORIZATION_FAILED$/,
    'the account has no right on a topic: it is not onboarded, or the topic is not its own',
  ],
  [
    /^GROUP_AUTHORIZATION_FAILED$/,
    'the account has no right on this consumer group: group names begin with partner.<id>., and an account that was replaced or disabled has no rights.',
  ],
  [/^CLUSTER_AUTHORIZATION_FAILED$/, 'the account has no right to do that'],
  [/^UNKNOWN_TOPIC_OR_PARTITION$/, 'a topic does not exist: it is made when the partner is onboarded'],
  [
    /^(UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|CERT_UNTRUSTED)/,
    "the broker's certificate is signed by nobody that is trusted: name the right authority with --ca",
  ],
  [/^CERT_HAS_EXPIRED$/, "the broker's certificate has expired"],
  [
    /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    "the broker's certificate is of another host name: use the name that stands in it",
  ],
  [/^ERR_SSL_.*(CERTIFICATE|HANDSHAKE|ALERT)/, 'the broker refuses the certificate of this client'],
  [/^(EPROTO|ERR_SSL_)/, 'TLS failed: the port may speak without it'],
  [/^ECONNREFUSED$/, 'nobody listens there: check --brokers'],
  [/^E(NOTFOUND|AI_AGAIN)$/, 'the host name is not known: check --brokers'],
];

/** In words where it is known, with what to do; else as the client has it. */
export function brokerWords(error: unknown): string {
  const codes = [...within(error)]
    .flatMap(({ code, apiId }) => [apiId, code])
    .filter((code) => typeof code === 'string');
  for (const [pattern, words] of WORDS) if (codes.some((code) => pattern.test(code))) return words;
  const { message, hint } = error as { message?: string; hint?: string };
  if (message?.startsWith('Unknown topic')) return `${message} It is made when the partner is onboarded.`;
  return hint === undefined ? (message ?? String(error)) : `${message} ${hint}`;
}

/** Did the broker say that the account may not do that? */
export const isRefusal = (error: unknown): boolean =>
  [...within(error)].some(({ apiId }) => typeof apiId === 'string' && apiId.endsWith('_AUTHORIZATION_FAILED'));
