/** Who the document is for: `parley` says what we do, `partner` what the partner implements. */
export type Side = 'parley' | 'partner';

export type Json = Readonly<Record<string, unknown>>;

/** The newest of AsyncAPI's Kafka bindings. */
export const KAFKA_BINDING = { bindingVersion: '0.5.0' } as const;
