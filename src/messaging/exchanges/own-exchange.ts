import type { Exchange } from './exchange';

/** Fits a handler's outcome: this message can never be applied. */
export interface ExchangeRefusal {
  kind: 'dead';
  code: 'correlation-missing' | 'exchange-unknown' | 'exchange-foreign';
  detail: string;
}

export type OwnExchange = { ok: true; exchange: Exchange } | { ok: false; outcome: ExchangeRefusal };

const refuse = (code: ExchangeRefusal['code'], detail: string): OwnExchange => ({
  ok: false,
  outcome: { kind: 'dead', code, detail },
});

/**
 * The exchange that a message of `partner` belongs to, or why there is none. `found` is what `Exchanges.lock` returned.
 * The texts may reach the partner: they don't say whose a foreign exchange is.
 */
export function ownExchange(
  found: ReadonlyMap<string, Exchange>,
  partner: string,
  correlationId: string | undefined,
): OwnExchange {
  if (correlationId === undefined) return refuse('correlation-missing', 'The message names no exchange.');
  const exchange = found.get(correlationId);
  if (!exchange) return refuse('exchange-unknown', 'No request has this correlation id.');
  if (exchange.partner !== partner) {
    return refuse('exchange-foreign', 'The correlation id is not of an exchange with this partner.');
  }
  return { ok: true, exchange };
}
