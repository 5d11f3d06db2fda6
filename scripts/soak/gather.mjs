import { Admin, Consumer } from '@platformatic/kafka';
import pg from 'pg';
import { readJournal } from '../demo/compare.mjs';

/** What each side writes, by kind: its topics; which lines of the partners' journal tell that they read it, or which of what they wrote it is. */
export const OUTBOUND = [
  { name: 'orders and cancellations', topic: (id) => `orders.${id}.request.v1`, read: ['seen', 'cancelling'] },
  { name: 'despatch receipts', topic: (id) => `shipments.${id}.response.v1`, read: ['receipt'] },
  { name: 'error reports', topic: (id) => `errors.${id}.v1`, read: ['reported'] },
];
export const INBOUND = [
  { name: 'answers', topic: (id) => `orders.${id}.response.v1`, isAdvice: false },
  { name: 'despatch advices', topic: (id) => `shipments.${id}.request.v1`, isAdvice: true },
];

const GROUP = 'parley';

export async function withDatabase(system, work) {
  const client = new pg.Client({ connectionString: system.postgres.url('parley'), connectionTimeoutMillis: 5000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function withAdmin(system, work) {
  const admin = new Admin({ clientId: 'soak', ...system.access.asAdministrator(), retries: 3, timeout: 5000 });
  try {
    return await work(admin);
  } finally {
    await admin.close();
  }
}

const topicsOf = (kinds, system) => kinds.flatMap(({ topic }) => system.partners.map(({ id }) => topic(id)));

/** End of each partition, `topic/partition` to offset. */
async function endsOf(admin, topics, partitions) {
  const ask = Array.from({ length: partitions }, (_, partitionIndex) => ({ partitionIndex, timestamp: -1n }));
  const found = await admin.listOffsets({ topics: topics.map((name) => ({ name, partitions: ask })) });
  return new Map(
    found.flatMap(({ name, partitions: list }) =>
      list.map(({ partitionIndex, offset }) => [`${name}/${partitionIndex}`, offset]),
    ),
  );
}

/** Records of partners that the consumer group has not committed. */
export function inboundRecordsLeft(system) {
  const topics = topicsOf(INBOUND, system);
  const partitionIndexes = [...Array(system.partitions).keys()];
  return withAdmin(system, async (admin) => {
    const ends = await endsOf(admin, topics, system.partitions);
    const [group] = await admin.listConsumerGroupOffsets({
      groups: [{ groupId: GROUP, topics: topics.map((name) => ({ name, partitionIndexes })) }],
    });
    let left = 0n;
    const committed = new Map(
      group.topics.flatMap(({ name, partitions }) =>
        partitions.map(({ partitionIndex, committedOffset }) => [`${name}/${partitionIndex}`, committedOffset]),
      ),
    );
    for (const [place, end] of ends) left += end - (committed.get(place) > 0n ? committed.get(place) : 0n);
    return Number(left);
  });
}

/** Every record of the topics: place, `ce_id`. */
async function readTopics(system, topics) {
  const ends = await withAdmin(system, (admin) => endsOf(admin, topics, system.partitions));
  let left = [...ends.values()].reduce((sum, end) => sum + Number(end), 0);
  const records = [];
  if (left === 0) return records;
  const consumer = new Consumer({
    clientId: 'soak',
    groupId: `soak-${process.pid}-${topics[0]}`,
    ...system.access.asAdministrator(),
  });
  const stream = await consumer.consume({ topics, mode: 'earliest', fallbackMode: 'earliest', autocommit: false });
  for await (const { topic, partition, offset, headers } of stream) {
    const id = [...headers].find(([name]) => String(name) === 'ce_id')?.[1];
    records.push({ topic, partition, offset: String(offset), id: id === undefined ? undefined : String(id) });
    if (--left === 0) break;
  }
  await stream.close();
  await consumer.close();
  return records;
}

const idsOf = (journal, kinds) => journal.filter(({ kind }) => kinds.includes(kind)).map(({ id }) => id);

/** All that both sides know, by kind. */
export async function gather(system, database, poison) {
  const rows = async (sql, values) => (await database.query(sql, values)).rows;
  const journal = readJournal(system.journal);
  const outbound = [];
  for (const { name, topic, read } of OUTBOUND) {
    const topics = system.partners.map(({ id }) => topic(id));
    const committed = await rows('SELECT DISTINCT id::text AS id FROM outbox_message WHERE topic = ANY($1)', [topics]);
    const parked = await rows('SELECT message_id::text AS id FROM parked_outbound WHERE topic = ANY($1)', [topics]);
    outbound.push({
      name,
      committed: committed.map(({ id }) => id),
      parked: parked.map(({ id }) => id),
      log: await readTopics(system, topics),
      read: idsOf(journal, read),
    });
  }
  const effects = await rows(`SELECT message_id AS id FROM order_event WHERE type <> 'placed'`);
  const inbound = [];
  const advices = new Set(idsOf(journal, ['despatching']));
  for (const { name, topic, isAdvice } of INBOUND) {
    const topics = system.partners.map(({ id }) => topic(id));
    const taken = `SELECT c.topic, i.partition, i."offset"::text AS "offset", p.state, p.code, p.attempts
       FROM inbox i JOIN channel c ON c.id = i.channel_id
       LEFT JOIN parked_inbound p ON p.channel_id = i.channel_id AND p.inbox_id = i.message_id WHERE c.topic = ANY($1)`;
    const bad = [...poison].filter(([, { topic: where }]) => topics.includes(where));
    inbound.push({
      name,
      log: await readTopics(system, topics),
      taken: await rows(taken, [topics]),
      effects: new Set(effects.map(({ id }) => id)),
      written: idsOf(journal, ['answered']).filter((id) => advices.has(id) === isAdvice),
      poison: new Map(bad.map(([id, { code }]) => [id, code])),
    });
  }
  const orders = (await rows('SELECT order_number AS number FROM orders')).map(({ number }) => number);
  return { outbound, inbound, orders };
}
