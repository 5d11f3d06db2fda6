import { load } from './parley.mjs';

const { toHeaders } = load('../dist/src/contracts/index.js');

export const orderNumber = (n) => `PO-${String(n).padStart(9, '0')}`;
const correlationOf = (n) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

/** Orders as they stand after their placement: order, event and exchange, half of them each partner's. */
export async function placeOrders(client, partners, count) {
  const source = `generate_series(1, $1::int) n
    CROSS JOIN LATERAL (SELECT 'PO-' || lpad(n::text, 9, '0') AS o, ($2::text[])[n % $3::int + 1] AS p,
      '00000000-0000-4000-8000-' || lpad(n::text, 12, '0') AS c) k`;
  const values = [count, partners, partners.length];
  await client.query(
    `INSERT INTO orders (order_number, partner, state, version, currency, lines, deadline, created_at, updated_at)
     SELECT o, p, 'placed', 1, 'EUR', '[{"lineNumber":1,"item":"A-100-4711","quantity":"12.5","unit":"C62","unitPrice":"9.99"}]', now() + interval '1 hour', now(), now() FROM ${source}`,
    values,
  );
  await client.query(
    `INSERT INTO order_event (order_number, version, type, at, message_id, correlation_id, outbox_seq, topic, partition)
     SELECT o, 1, 'placed', now(), gen_random_uuid(), c, n, 'orders.' || p || '.request.v1', 0 FROM ${source}`,
    values,
  );
  await client.query(
    `INSERT INTO exchange (correlation_id, partner, direction, kind, order_number, request_message_id, request_seq, state, deadline, opened_at)
     SELECT c, p, 'out', 'order-request', o, gen_random_uuid(), n, 'awaiting', now() + interval '1 hour', now() FROM ${source}`,
    values,
  );
  await client.query('VACUUM ANALYZE orders, order_event, exchange');
}

/** A partner's acceptance of order `n`. */
export function answer(partner, n) {
  const key = orderNumber(n);
  return {
    key,
    value: Buffer.from(JSON.stringify({ orderNumber: key, responseCode: 'AP', issuedAt: '2026-11-29T12:00:00.000Z' })),
    headers: toHeaders({
      id: `10000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
      source: `/partners/${partner}`,
      type: 'parley.order-response.v1',
      time: '2026-11-29T12:00:00.000Z',
      subject: key,
      contentType: 'application/json',
      correlationId: correlationOf(n),
    }),
  };
}
