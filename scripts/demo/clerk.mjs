import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { compatibilityPartitioner, Consumer, Producer } from '@platformatic/kafka';

/**
 * A clerk of a partner that speaks JSON Schema writes despatch advices by hand, one a number, for orders that their own system has
 * never heard of: with any Kafka client, by what its partner document says. The journal tells of them as of all that partners write.
 */
export async function despatchByHand(system, { id: partner }, schemas, orderNumbers) {
  const topic = `shipments.${partner}.request.v1`;
  const schemaId = schemas.find(({ subject }) => subject === `${topic}-parley.v1.DespatchAdvice`).id;
  const advices = orderNumbers.map((order) => ({ order, despatchNumber: `D-${order}`, id: randomUUID() }));
  const tell = (kind) =>
    appendFileSync(
      system.journal,
      advices.map((advice) => `${JSON.stringify({ kind, at: now(), partner, ...advice })}\n`).join(''),
    );
  const producer = new Producer({
    clientId: 'clerk',
    ...system.access.asPartner(partner),
    partitioner: compatibilityPartitioner,
  });
  try {
    tell('despatching');
    const messages = advices.map((advice) => ({
      topic,
      key: Buffer.from(advice.order),
      value: framed(schemaId, Buffer.from(JSON.stringify(documentOf(advice)))),
      headers: new Map(Object.entries(headersOf(advice, partner)).map((pair) => pair.map((text) => Buffer.from(text)))),
    }));
    await producer.send({ acks: -1, messages });
    tell('answered');
  } finally {
    await producer.close();
  }
}

const now = () => new Date().toISOString();

/** In Confluent's wire format. */
export function framed(schemaId, document) {
  const start = Buffer.alloc(5);
  start.writeInt32BE(schemaId, 1);
  return Buffer.concat([start, document]);
}

const documentOf = ({ order, despatchNumber }) => ({
  ...{ orderNumber: order, despatchNumber, issuedAt: now() },
  lines: [{ lineNumber: 1, quantity: '10' }],
});

const headersOf = ({ id, order }, partner) => ({
  ...{ ce_specversion: '1.0', ce_id: id, ce_source: `/partners/${partner}`, ce_type: 'parley.despatch-advice.v1' },
  ...{ ce_time: now(), ce_subject: order, ce_correlationid: randomUUID(), 'content-type': 'application/json' },
});

/** The record about this message on a topic: `{ key, value, headers }`, header names and texts. Waits until it is there. */
export async function recordOf(messageId, topic, system) {
  const consumer = new Consumer({
    clientId: 'reader',
    groupId: `reader-${process.pid}`,
    ...system.access.asAdministrator(),
  });
  try {
    const stream = await consumer.consume({
      ...{ topics: [topic], mode: 'earliest', fallbackMode: 'earliest', autocommit: false },
    });
    for await (const { partition, offset, key, value, headers } of stream) {
      const named = new Map([...headers].map(([name, text]) => [String(name), String(text)]));
      if (named.get('ce_id') === messageId) return { partition, offset, key, value, headers: named };
    }
    throw new Error(`nobody wrote ${messageId} to ${topic}`);
  } finally {
    await consumer.close(true);
  }
}
