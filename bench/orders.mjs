import { randomUUID } from 'node:crypto';

export const LINES = [
  { lineNumber: 1, item: 'A-100-4711', quantity: '12.5', unit: 'C62', unitPrice: '9.99' },
  { lineNumber: 2, item: 'B-200-0815', quantity: '1', unit: 'KGM', unitPrice: '0.45' },
];

const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

/** An order of two lines, numbered by Parley, as the REST controller hands it to the service. */
export const anOrder = (partner) => ({
  caller: 'bench',
  idempotencyKey: randomUUID(),
  orderNumber: undefined,
  partner,
  currency: 'EUR',
  lines: LINES,
  traceparent: TRACEPARENT,
});

/** The same document as bytes of the outbox, for rows that are loaded by SQL: `%s` stands for the order number. */
export const PAYLOAD = JSON.stringify({
  orderNumber: '%s',
  issuedAt: '2026-11-29T12:00:00.000Z',
  currency: 'EUR',
  lines: LINES,
});

/**
 * Loads `count` messages into the outbox as Outbox.add writes them, spread evenly over `lanes` (`[{ topic, partition }]`), in
 * transactions of 10,000 rows.
 */
export async function loadOutbox(client, lanes, count) {
  for (let done = 0; done < count; done += 10_000) {
    await client.query(
      `INSERT INTO outbox_message (id, aggregatetype, aggregateid, type, topic, partition, correlationid, traceparent, content_type, time, payload)
       SELECT gen_random_uuid(), 'order', o, 'parley.order-request.v1', l.topic, l.partition, gen_random_uuid(), $1, 'application/json', now(),
         convert_to(replace($2, '%s', o), 'UTF8')
       FROM generate_series($3::int, $4::int) n
         CROSS JOIN LATERAL (SELECT 'PO-' || lpad(n::text, 9, '0') AS o) k
         JOIN unnest($5::text[], $6::int[]) WITH ORDINALITY l(topic, partition, i) ON l.i = n % $7::int + 1`,
      [
        TRACEPARENT,
        PAYLOAD,
        done + 1,
        Math.min(count, done + 10_000),
        lanes.map((lane) => lane.topic),
        lanes.map((lane) => lane.partition),
        lanes.length,
      ],
    );
  }
}

/** Lanes of the partners' request topics. */
export const lanesOf = (partners, partitions) =>
  partners.flatMap((partner) =>
    Array.from({ length: partitions }, (_, partition) => ({ topic: `orders.${partner}.request.v1`, partition })),
  );
