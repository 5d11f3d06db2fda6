import { pino } from 'pino';
import { type ErrorReport, errorReport, topicFor, typeOf } from '../../../src/contracts';
import { createProcessor } from '../../../src/messaging/consumer';
import type { InboundRecord } from '../../../src/messaging/kafka';
import { Outbox } from '../../../src/messaging/outbox';
import { JsonCodec } from '../../../src/messaging/registry';
import { Database, query, type Tx } from '../../../src/platform/database';
import { AppError, NonRetriableError } from '../../../src/platform/errors';
import { reportCode } from '../../../src/platform/http';
import { uniqueName } from '../../support/kafka';
import {
  addChannel,
  addPartner,
  appliedSteps,
  type Decide,
  handler,
  LIMITS,
  logger,
  openWorld,
  OUTGOING,
  parkedRows,
  run,
  Tape,
  TEST_CONTRACTS,
  TestBatch,
  type World,
} from './harness';

let world: World;
let partner: string;
let tape: Tape;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());
beforeEach(async () => {
  partner = uniqueName('p');
  tape = new Tape(await addPartner(world, partner));
  await addChannel(world, partner, { topic: topicFor(errorReport, partner), direction: 'out' });
});

interface Row {
  id: string;
  aggregateid: string;
  correlationid: string | null;
  causationid: string | null;
  report: ErrorReport;
}

/** What lies in the outbox for the partner's error topic; every document as its contract wants it. */
async function reports(of = partner): Promise<Row[]> {
  const topic = topicFor(errorReport, of);
  const rows = await world.database.query<Omit<Row, 'report'> & { payload: Buffer; type: string }>(
    'SELECT id, aggregateid, correlationid, causationid, type, payload FROM outbox_message WHERE topic = :topic ORDER BY seq',
    { topic },
  );
  const codec = new JsonCodec();
  return Promise.all(
    rows.map(async ({ payload, type, ...row }) => {
      expect(type).toBe(typeOf(errorReport));
      const decoded = await codec.decode(errorReport, { topic, format: 'json' }, { value: payload, headers: {} });
      if (!decoded.ok) throw new Error(decoded.error.detail);
      const report = decoded.value as ErrorReport;
      expect(row.aggregateid).toBe(report.subject);
      return { ...row, report };
    }),
  );
}

const dead = (code: string, detail = 'No.', pointer?: string): Decide => {
  return () => ({ kind: 'dead', code, detail, ...(pointer === undefined ? {} : { pointer }) });
};

describe('what dies of a partner’s records', () => {
  test('is reported with its code, its place and its ids', async () => {
    const record = tape.record({
      id: 'm-1',
      headers: { ce_correlationid: 'c-1' },
      value: '{"orderNumber":4711}',
    });
    await run(world, [record]);
    const [row, ...others] = await reports();
    expect(others).toEqual([]);
    expect(row).toMatchObject({ aggregateid: 'order-1', correlationid: 'c-1', causationid: 'm-1' });
    expect(row?.report).toEqual({
      subject: 'order-1',
      type: '/docs/problems/invalid',
      title: 'The document breaks its contract',
      code: 'invalid',
      detail: 'must be string',
      pointer: '/orderNumber',
      topic: tape.topic,
      partition: 0,
      offset: '0',
      messageId: 'm-1',
      messageType: 'parley.test-step.v1',
      correlationId: 'c-1',
      reportedAt: expect.stringMatching(/^2.*Z$/) as string,
    });
  });

  const cases: [string, () => InboundRecord[]][] = [
    ['undecodable', () => [tape.record({ value: 'garbage' })]],
    ['tombstone-unsupported', () => [tape.record({ value: null })]],
    ['contract-unknown', () => [tape.record({ headers: { ce_type: 'parley.never-heard-of.v1' } })]],
    ['contract-misplaced', () => [tape.record({ contract: OUTGOING })]],
    ['message-id-missing', () => [tape.record({ headers: { ce_id: undefined } })]],
    ['envelope-invalid', () => [tape.record({ headers: { ce_correlationid: 'x'.repeat(300) } })]],
    ['key-mismatch', () => [tape.record({ value: '{"orderNumber":"another"}' })]],
    ['message-id-reused', () => [tape.record({ id: 'twice' }), tape.record({ id: 'twice', key: 'order-2' })]],
  ];
  test.each(cases)('has a page for its code: %s', async (code, records) => {
    await run(world, records());
    expect((await reports()).map(({ report }) => [report.code, report.type])).toEqual([
      [code, `/docs/problems/${code}`],
    ]);
    expect(reportCode(code)).toBeDefined();
  });

  test('by a decision is told in the words of the decision', async () => {
    await run(
      world,
      [tape.record()],
      dead('illegal-transition', 'RE for order-1, which is accepted.', '/responseCode'),
    );
    expect((await reports()).map(({ report }) => report)).toMatchObject([
      { code: 'illegal-transition', detail: 'RE for order-1, which is accepted.', pointer: '/responseCode' },
    ]);
  });

  test('by an exception is told without its words, and without a code of the inside', async () => {
    const codes: Record<string, string> = {
      'order-1': 'vault-sealed',
      // Our own answer's fault; it says nothing of the partner's document.
      'order-2': 'message-too-large',
      'order-3': 'order-unknown',
    };
    const records = Object.keys(codes).map((key) => tape.record({ key }));
    await run(world, records, ({ key }) => {
      throw new NonRetriableError(codes[String(key)] ?? '', 'secret: table vault row 7');
    });
    const told = (await reports()).map(({ report }) => report);
    expect(told).toMatchObject([
      { code: 'not-processed', detail: 'The record could not be processed.' },
      { code: 'not-processed', detail: 'The record could not be processed.' },
      { code: 'order-unknown', detail: 'There is no such order.' },
    ]);
    expect(JSON.stringify(told)).not.toMatch(/secret|vault/);
  });

  test('for another partner’s exchange reads like an exchange that never was', async () => {
    await run(world, [tape.record()], dead('exchange-unknown', 'No request has this correlation id.'));
    await run(world, [tape.record({ key: 'order-2' })], dead('exchange-foreign', 'It is of an exchange of umbra.'));
    const [unknown, foreign] = (await reports()).map(({ report }) => {
      const { type, title, code, detail } = report;
      return { type, title, code, detail };
    });
    expect(foreign).toEqual(unknown);
    // We know the difference.
    expect((await parkedRows(world, partner)).map((row) => row.code)).toEqual(['exchange-unknown', 'exchange-foreign']);
  });

  test.each([
    ['that is no text', Buffer.from([0xc3, 0x28])],
    ['that is empty', Buffer.alloc(0)],
    ['that looks like a digest', Buffer.alloc(400, 'k')],
    ['that is missing', null],
  ])('under a key %s is reported under its place', async (_, key) => {
    await run(world, [tape.record({ key, value: '?' })]);
    expect((await reports()).map((row) => row.aggregateid)).toEqual([`${tape.topic}/0/0`]);
  });

  test('is reported also where the decision’s texts are odd', async () => {
    await run(world, [tape.record()], dead('Odd Code', `a\0b \ud83d ${'x'.repeat(9999)}`, `/${'y'.repeat(9999)}`));
    expect((await reports()).map(({ report }) => report.code)).toEqual(['not-processed']);
  });
});

describe('a report', () => {
  test('is made once: a repeat of the record reports nothing again', async () => {
    const record = tape.record({ value: 'garbage' });
    await run(world, [record, { ...record, offset: 1n }]);
    await run(world, [record]);
    await run(world, [{ ...record, offset: 7n }]);
    expect(await reports()).toHaveLength(1);
  });

  test('has one id for ever', async () => {
    const records = [tape.record({ value: 'garbage' }), tape.record({ value: 'garbage', key: 'order-2' })];
    await run(world, records);
    // As a database that was restored from before.
    await world.database.query('DELETE FROM parked_inbound WHERE partner = :partner', { partner });
    await world.database.query(`DELETE FROM inbox WHERE channel_id = ${world.channels.find(tape.topic)?.id}`);
    await run(world, records);
    const ids = (await reports()).map((row) => row.id);
    expect(ids.slice(2)).toEqual(ids.slice(0, 2));
    expect(new Set(ids).size).toBe(2);
  });

  test('is not made of what waits or is held', async () => {
    await run(world, [tape.record(), tape.record()], () => ({ kind: 'retry', code: 'too-early', detail: 'not yet' }));
    await run(world, [tape.record({ key: 'order-2' })], () => {
      throw new AppError('later', 'x');
    });
    expect((await parkedRows(world, partner)).map((row) => row.state)).toEqual(['waiting', 'held', 'waiting']);
    expect(await reports()).toEqual([]);
  });

  test('is not made of a report that comes back', async () => {
    await run(world, [tape.record({ contract: errorReport as never }), tape.record({ value: '?', key: 'order-2' })]);
    expect((await parkedRows(world, partner)).map((row) => row.state)).toEqual(['dead', 'dead']);
    expect((await reports()).map((row) => row.aggregateid)).toEqual(['order-2']);
  });

  test('stands or falls with the outcome that it tells', async () => {
    /** Its first connection is lost between the report and the commit. */
    class CutDatabase extends Database {
      cuts = 0;
      override transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
        return super.transaction(async (tx) => {
          const result = await work(tx);
          if (this.cuts++ === 0) await query(tx, 'SELECT pg_terminate_backend(pg_backend_pid())');
          return result;
        });
      }
    }
    const database = new CutDatabase(world.dataSource);
    await run({ ...world, database }, [tape.record({ value: 'garbage' })]);
    expect(database.cuts).toBe(2);
    expect(await parkedRows(world, partner)).toHaveLength(1);
    expect(await reports()).toHaveLength(1);
  });

  test('is on its way at once: the relay is woken behind the commit, and only where there is something', async () => {
    const { database, channels } = world;
    const codec = new JsonCodec();
    const seen: number[] = [];
    const looks: Promise<unknown>[] = [];
    const outbox = new Outbox(channels, codec, () => void looks.push(reports().then((rows) => seen.push(rows.length))));
    const processor = createProcessor(
      { config: LIMITS, database, channels, codec, outbox, logger, contracts: TEST_CONTRACTS },
      handler(),
    );
    await processor.process(new TestBatch([tape.record()]));
    expect(looks).toHaveLength(0);
    await processor.process(new TestBatch([tape.record({ value: 'garbage' })]));
    await processor.close();
    await Promise.all(looks);
    expect(seen).toEqual([1]);
  });

  test('that a partner from before has no topic for is left out, and said once', async () => {
    const old = uniqueName('old');
    const oldTape = new Tape(await addPartner(world, old));
    const lines: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
    const { database, channels } = world;
    const processor = createProcessor(
      { config: LIMITS, database, channels, codec: new JsonCodec(), logger: log, contracts: TEST_CONTRACTS },
      handler(),
    );
    for (let turn = 0; turn < 2; turn++) {
      await processor.process(
        new TestBatch([oldTape.record({ value: '?' }), oldTape.record({ key: `order-${turn}9` })]),
      );
    }
    await processor.close();
    expect((await parkedRows(world, old)).map((row) => row.state)).toEqual(['dead', 'dead']);
    expect(await appliedSteps(world, old)).toEqual(['1', '3']);
    expect(await reports(old)).toEqual([]);
    expect(lines.filter((line) => line.includes(`parley partner add ${old}`))).toHaveLength(1);
  });
});
