import { pino } from 'pino';
import { type DespatchAdvice, despatchAdvice, topicFor, typeOf } from '../../../src/contracts';
import { createParkedDrain, createProcessor, type InboundBatch, type Outcome } from '../../../src/messaging/consumer';
import { JsonCodec } from '../../../src/messaging/registry';
import { addPartner } from '../orders/orders-app';
import { openWorld, TestBatch, type World } from '../consumer/harness';
import { tracesOf } from './traces';

const NAME = 'Kim "K" Doe-4711';
const PHONE = '+49 151 5550100';

describe('an exception that quotes personal data', () => {
  let world: World;
  const log: string[] = [];
  const logger = pino({ level: 'debug' }, { write: (line: string) => void log.push(line) });
  /** Handlers of careless authors: each word of theirs would be stored, logged, and told to the partner. */
  const dispatch = (_contract: unknown, { messages }: InboundBatch<unknown>): Promise<Outcome[]> => {
    const value = messages[0]?.value as DespatchAdvice;
    const cause = new TypeError(`no gate for ${value.driver?.name}`);
    throw new Error(`cannot ring ${value.driver?.phone}: ${JSON.stringify(value)}`, { cause });
  };
  const parts = () => ({
    config: { consumerBatchSize: 500, consumerLingerMs: 0, databasePoolSize: 4 },
    ...{ database: world.database, channels: world.channels, codec: new JsonCodec(), logger },
  });
  const stored = async (): Promise<string> =>
    JSON.stringify(
      await world.database.query(
        `SELECT to_jsonb(p) - 'raw_value' AS parked, (SELECT jsonb_agg(convert_from(payload, 'UTF8')) FROM outbox_message) AS told FROM parked_inbound p`,
      ),
    );
  const quoted = (text: string): string[] =>
    [NAME, PHONE].filter((data) => tracesOf(data).some((one) => text.includes(one)));

  beforeAll(async () => {
    world = await openWorld();
    await addPartner(world.database, 'acme', 'json');
    await world.channels.load();
  });
  afterAll(() => world?.close());

  const document = {
    ...{ orderNumber: 'O-1', despatchNumber: 'D-1', issuedAt: '2026-03-01T10:00:00Z' },
    lines: [{ lineNumber: 1, quantity: '1' }],
    driver: { name: NAME, phone: PHONE },
  };
  const record = (id: string) => ({
    ...{ topic: topicFor(despatchAdvice, 'acme'), partition: 0, offset: BigInt(id), timestamp: Date.now() },
    ...{ key: Buffer.from(`O-${id}`), value: Buffer.from(JSON.stringify({ ...document, orderNumber: `O-${id}` })) },
    headers: { ce_id: id, ce_type: typeOf(despatchAdvice) },
  });

  it('is stored, logged and shown without it, at the first attempt', async () => {
    const processor = createProcessor(parts(), dispatch);
    try {
      await processor.process(new TestBatch([record('1'), record('2')]));
    } finally {
      await processor.close();
    }
    const found = await stored();
    expect(found).toContain('cannot ring •••');
    expect(found).toContain('TypeError: no gate for •••');
    expect(quoted(found)).toEqual([]);
  });

  it('and at each later one, also in what the partner is told of the last', async () => {
    await world.database.query(`UPDATE parked_inbound SET next_attempt_at = now(), attempts = 999`);
    const drain = createParkedDrain(parts(), dispatch);
    while (await drain.pass());
    const found = await stored();
    expect(found).toContain('"state": "dead"'.replace(' ', ''));
    expect(found).toContain('not-processed');
    expect(quoted(found)).toEqual([]);
    expect(log.join('')).toContain('a handler failed on a parked message');
    expect(log.join('')).toContain('a batch failed and is split');
    expect(quoted(log.join(''))).toEqual([]);
  });

  it('costs no more than others, whatever a partner calls its driver', async () => {
    const driver = { name: 'for', also: Array.from({ length: 100 }, () => '••'), more: 'no' };
    const processor = createProcessor(parts(), dispatch);
    const value = Buffer.from(JSON.stringify({ ...document, orderNumber: 'O-3', driver }));
    try {
      await processor.process(new TestBatch([{ ...record('3'), value }]));
    } finally {
      await processor.close();
    }
    expect(await stored()).toContain('TypeError: ••• gate ••• •••');
  });
});
