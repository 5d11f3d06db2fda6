import {
  addPartner,
  appliedSteps,
  ELSEWHERE,
  inboxCount,
  openWorld,
  OTHER_STEP,
  OUTGOING,
  parkedKeys,
  parkedRows,
  run,
  type RecordShape,
  Tape,
  type World,
} from './harness';
import { uniqueName } from '../../support/kafka';

let world: World;
let partner: string;
let topic: string;
let tape: Tape;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());
beforeEach(async () => {
  partner = uniqueName('p');
  topic = await addPartner(world, partner);
  tape = new Tape(topic);
});

describe('a record in good order', () => {
  test('is applied, in the order of its offset, and its offset follows the commit', async () => {
    const batch = await run(
      world,
      tape.records(7, () => ({})),
    );
    expect(await appliedSteps(world, partner)).toEqual(['0', '1', '2', '3', '4', '5', '6']);
    expect(batch.doneUpTo).toBe(6n);
    expect(await parkedRows(world, partner)).toEqual([]);
  });

  test('reaches its handler as it is, also with fields called key, value and headers', async () => {
    const body = { orderNumber: 'order-1', key: 'k', value: { headers: null }, headers: ['x'], step: 's' };
    await run(world, [tape.record({ value: JSON.stringify(body) })]);
    const [row] = await world.database.query<{ body: unknown }>('SELECT body FROM effect WHERE partner = :partner', {
      partner,
    });
    expect(row?.body).toEqual(body);
  });

  test('keeps int64 and decimals exact, which travel as strings', async () => {
    const seen: unknown[] = [];
    const big = { orderNumber: 'order-1', int64: '9223372036854775807', decimal: '999999999999999999.123456' };
    await run(world, [tape.record({ value: JSON.stringify(big) })], (message) => void seen.push(message.value));
    expect(seen).toEqual([big]);
  });

  test('of many contracts is given to their handlers in offset order', async () => {
    const contracts = [undefined, OTHER_STEP, undefined, undefined, OTHER_STEP];
    await run(
      world,
      tape.records(5, (index) => ({ ...(contracts[index] ? { contract: contracts[index] } : {}) })),
    );
    expect(await appliedSteps(world, partner)).toEqual(['0', '1', '2', '3', '4']);
  });

  test('without a key is applied and neither held nor compared', async () => {
    await run(world, [
      tape.record({ key: null, value: 'garbage' }),
      tape.record({ key: null }),
      tape.record({ key: null }),
    ]);
    expect(await appliedSteps(world, partner)).toEqual(['1', '2']);
    expect(await parkedKeys(world, partner)).toEqual([]);
  });
});

describe('a repeat', () => {
  test('has one effect, in one batch and in a later one', async () => {
    const record = tape.record({ id: 'once' });
    const again = { ...record, offset: 100n };
    const seen: string[] = [];
    const batch = await run(world, [record, again], ({ id }) => void seen.push(id));
    expect(seen).toEqual(['once']);
    await run(world, [record]);
    await run(world, [{ ...record, offset: 200n }]);
    expect(await appliedSteps(world, partner)).toEqual(['0']);
    expect(batch.doneUpTo).toBe(100n);
    expect(await parkedRows(world, partner)).toEqual([]);
  });

  test('of a dead letter stays one dead letter, counted once', async () => {
    const records = [
      tape.record({ value: 'garbage', id: 'dead' }),
      tape.record({ key: 'order-2', headers: { ce_id: undefined } }),
    ];
    await run(world, records);
    await run(world, records);
    await run(world, [...records, { ...(records[0] as (typeof records)[0]), offset: 77n }]);
    const rows = await parkedRows(world, partner);
    expect(rows.map((row) => row.code)).toEqual(['undecodable', 'message-id-missing']);
  });

  test('of a message that waits is only counted', async () => {
    const record = tape.record();
    await run(world, [record], () => ({ kind: 'retry', code: 'too-early', detail: 'not yet' }));
    await run(world, [record]);
    expect(await parkedRows(world, partner)).toMatchObject([{ state: 'waiting', attempts: 1 }]);
    expect(await appliedSteps(world, partner)).toEqual([]);
  });
});

describe('the same id with other content', () => {
  test('is a dead letter, not silence, and the first is untouched', async () => {
    await run(world, [tape.record({ id: 'x' })]);
    await run(world, [tape.record({ id: 'x', key: 'order-2' })]);
    expect(await appliedSteps(world, partner)).toEqual(['0']);
    expect(await parkedRows(world, partner)).toMatchObject([
      { state: 'dead', code: 'message-id-reused', message_id: 'x', key: 'order-2', attempts: 0 },
    ]);
  });

  test('is found within one batch too: the first offset wins', async () => {
    await run(world, [tape.record({ id: 'x' }), tape.record({ id: 'x' })]);
    expect(await appliedSteps(world, partner)).toEqual(['0']);
    expect(await parkedRows(world, partner)).toMatchObject([{ code: 'message-id-reused', offset: '1' }]);
  });

  test('is one dead letter when it is delivered again, and holds its key', async () => {
    const reused = [tape.record({ id: 'x' }), tape.record({ id: 'x' }), tape.record()];
    await run(world, reused);
    await run(world, reused);
    await run(world, reused.slice(1));
    const rows = await parkedRows(world, partner);
    expect(rows.map((row) => [row.offset, row.state])).toEqual([
      ['1', 'dead'],
      ['2', 'held'],
    ]);
    expect(await inboxCount(world, topic)).toBe(3);
  });

  test('differs also when only the key or the presence of a value does', async () => {
    await run(world, [
      tape.record({ id: 'x', key: 'order-1', value: '{"orderNumber":"order-1","step":"a"}' }),
      tape.record({ id: 'x', key: 'order-2', value: '{"orderNumber":"order-1","step":"a"}' }),
      tape.record({ id: 'x', key: 'order-1', value: null }),
    ]);
    expect((await parkedRows(world, partner)).map((row) => row.code)).toEqual([
      'message-id-reused',
      'message-id-reused',
    ]);
  });

  test('at the place of a topic that was made again is stored, not lost', async () => {
    const own = uniqueName('again');
    const recreated = await addPartner(world, own, true);
    const first = new Tape(recreated).record({ headers: { ce_id: undefined } });
    const second = new Tape(recreated).record({ key: 'order-9', headers: { ce_id: undefined } });
    await run(world, [first]);
    await run(world, [second]);
    expect(await parkedRows(world, own)).toMatchObject([{ code: 'message-id-reused', key: 'order-9' }]);
  });
});

describe('a record that can never be applied', () => {
  const cases: [string, string, RecordShape][] = [
    ['bytes that are no JSON', 'undecodable', { value: Buffer.from([0xff, 0, 0x7b]) }],
    ['a document that breaks its schema', 'invalid', { value: '{"step":"x"}' }],
    ['no value', 'tombstone-unsupported', { value: null }],
    ['an unknown type', 'contract-unknown', { headers: { ce_type: 'parley.unheard-of.v9' } }],
    ['no type', 'contract-unknown', { headers: { ce_type: undefined } }],
    ['a document that we write', 'contract-misplaced', { contract: OUTGOING }],
    ['a document of another topic', 'contract-misplaced', { contract: ELSEWHERE }],
    ["a key that is not the document's", 'key-mismatch', { value: '{"orderNumber":"order-7"}' }],
    ['no id where the channel asks for one', 'message-id-missing', { headers: { ce_id: undefined } }],
    ['an id that no index takes', 'envelope-invalid', { id: 'x'.repeat(5000) }],
    ['an id with a NUL', 'envelope-invalid', { id: 'a\0b' }],
    ['a correlation id with a NUL', 'envelope-invalid', { headers: { ce_correlationid: 'a\0b' } }],
    ['a broken envelope and no value', 'envelope-invalid', { id: '\0', value: null }],
  ];
  test.each(cases)('for %s is a dead letter %s', async (_, code, shape) => {
    const records = [tape.record(shape), tape.record({ key: 'order-2' })];
    const batch = await run(world, records);
    await run(world, records);
    expect(await parkedRows(world, partner)).toMatchObject([
      {
        state: 'dead',
        code,
        attempts: 0,
        next_attempt_at: null,
        fingerprint: expect.stringMatching(/^[0-9a-f]{16}$/) as string,
      },
    ]);
    expect(await appliedSteps(world, partner)).toEqual(['1']);
    expect(batch.doneUpTo).toBe(1n);
  });

  test('is stored byte for byte, with every header', async () => {
    const value = Buffer.from([0, 1, 2, 0xff, 0xfe, 0xd8]);
    const key = Buffer.from([0xc3, 0x28, 0]);
    const headers = {
      'x\0y': Buffer.from([0, 255]),
      twice: [Buffer.from('1'), Buffer.from('2')],
      none: null as unknown as undefined,
    };
    await run(world, [tape.record({ key, value, headers, id: 'bytes' })]);
    const [row] = await parkedRows(world, partner);
    expect(row?.raw_key).toEqual(key);
    expect(row?.raw_value).toEqual(value);
    expect(row?.header_names.map(String)).toEqual([
      'ce_specversion',
      'ce_type',
      'ce_id',
      'x\0y',
      'twice',
      'twice',
      'none',
    ]);
    expect(row?.header_values.slice(3)).toEqual([Buffer.from([0, 255]), Buffer.from('1'), Buffer.from('2'), null]);
  });

  test.each([
    ['not UTF-8', Buffer.from([0xc3, 0x28])],
    ['with a NUL', Buffer.from('a\0b')],
    ['longer than an index takes', Buffer.alloc(9000, 'k')],
    ['empty', Buffer.alloc(0)],
  ])('holds its key also where that is %s', async (_, key) => {
    await run(world, [
      tape.record({ key, value: '?' }),
      tape.record({ key, value: '?' }),
      tape.record({ key: 'order-2' }),
    ]);
    await run(world, [tape.record({ key, value: `{"orderNumber":"z"}` })]);
    expect(await parkedKeys(world, partner)).toHaveLength(1);
    expect(await appliedSteps(world, partner)).toEqual(['2']);
  });

  test('survives texts that PostgreSQL does not take', async () => {
    await run(world, [tape.record()], () => ({
      kind: 'dead',
      code: 'odd',
      detail: `a\0b \ud83d ${'x'.repeat(9999)}`,
      pointer: '/\0',
    }));
    expect(await parkedRows(world, partner)).toMatchObject([{ code: 'odd', pointer: '/\ufffd', attempts: 1 }]);
  });
});

describe('a channel that allows records without an id', () => {
  test('tells them apart by their place', async () => {
    const own = uniqueName('noid');
    const noId = new Tape(await addPartner(world, own, true));
    const records = noId.records(3, () => ({
      value: '{"orderNumber":"order-1","step":"s"}',
      headers: { ce_id: undefined },
    }));
    const ids: string[] = [];
    await run(world, records, (message) => void ids.push(message.id));
    await run(world, records);
    expect(ids).toEqual([0, 1, 2].map((offset) => `orders.${own}.response.v1/0/${offset}`));
    expect(await appliedSteps(world, own)).toEqual(['s', 's', 's']);
  });
});
