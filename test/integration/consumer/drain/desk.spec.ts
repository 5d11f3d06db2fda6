import { randomUUID } from 'node:crypto';
import { errorReport, topicFor } from '../../../../src/contracts';
import { type ReplayObserver, type ReplayResult, StaffDesk } from '../../../../src/messaging/consumer';
import type { Tx } from '../../../../src/platform/database';
import { uniqueName } from '../../../support/kafka';
import {
  addChannel,
  addPartner,
  appliedSteps,
  type Decide,
  inboxCount,
  openWorld,
  parkedKeys,
  parkedRows,
  run,
  Tape,
  type World,
} from '../harness';
import { drainOf, makeDue, passUntilIdle } from './drain-harness';

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

const desk = new StaffDesk();
const by = { caller: 'key_test', reason: 'because' };
const no = { kind: 'dead', code: 'illegal', detail: 'no' } as const;
const kill =
  (...steps: string[]): Decide =>
  ({ value }) =>
    steps.includes(value.step ?? '') ? no : undefined;
const rows = async () =>
  (await parkedRows(world, partner)).map((one) => ({ ...one, id: String(one['id']), version: Number(one['version']) }));
const row = async (offset: string) => {
  const found = (await rows()).find((one) => one.offset === offset);
  return { id: found?.id ?? '', version: found?.version ?? 0 };
};
const inTx = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => world.database.transaction(work);
const release = async (...offsets: string[]): Promise<unknown[]> => {
  const ids = await Promise.all(offsets.map(async (offset) => (await row(offset)).id));
  const results = await inTx((tx) => desk.release(tx, ids, randomUUID(), new Date()));
  return ids.map((id) => results.get(id));
};

/** Remembers what it hears, and refuses to be called outside of a transaction. */
class Listener implements ReplayObserver {
  readonly heard: ReplayResult[] = [];

  async settled(...[tx, results]: Parameters<ReplayObserver['settled']>): Promise<void> {
    await tx.query('SELECT 1');
    this.heard.push(...results);
  }
}

describe('a dead letter that is released', () => {
  test('is applied from the table, and what it held follows in order', async () => {
    await run(
      world,
      tape.records(3, () => ({})),
      kill('0'),
    );
    expect(await release('0')).toEqual(['released']);
    const observer = new Listener();
    await passUntilIdle(drainOf(world, undefined, { observer }));
    expect(await appliedSteps(world, partner)).toEqual(['0', '1', '2']);
    expect(observer.heard).toMatchObject([{ parkedId: (await row('0')).id, result: 'processed' }]);
    expect(await parkedKeys(world, partner)).toEqual([]);
    expect(await release('0')).toEqual(['not-dead']);
  });

  test('and delivered once more while it waits has one effect', async () => {
    const records = tape.records(2, () => ({}));
    await run(world, records, kill('0'));
    await run(world, records);
    await release('0');
    await run(world, records);
    await passUntilIdle(drainOf(world));
    await run(world, records);
    expect(await appliedSteps(world, partner)).toEqual(['0', '1']);
    expect(await rows()).toHaveLength(2);
  });

  test('has its attempts counted anew, and its failures are heard as what they are', async () => {
    await run(world, [tape.record()], kill('0'));
    await world.database.query(
      `UPDATE parked_inbound SET attempts = 12, counted_since = now() - interval '9 days' WHERE partner = :partner`,
      { partner },
    );
    await release('0');
    const observer = new Listener();
    const tooEarly: Decide = () => ({ kind: 'retry', code: 'too-early', detail: 'not yet' });
    await passUntilIdle(drainOf(world, tooEarly, { observer }));
    expect(await rows()).toMatchObject([{ state: 'waiting', attempts: 1 }]);
    await makeDue(world, partner);
    await passUntilIdle(drainOf(world, kill('0'), { observer }));
    expect(observer.heard).toMatchObject([
      { result: 'waiting', code: 'too-early' },
      { result: 'failed-again', code: 'illegal', detail: 'no' },
    ]);
  });

  test('follows those of its key that are released with it, and stays behind one that is not', async () => {
    // Each is dead for a reason that order does not change.
    await run(
      world,
      [0, 1, 2, 3].map(() => tape.record({ value: 'garbage' })),
    );
    expect(await release('2', '0')).toEqual(['behind', 'released']);
    expect((await rows()).map(({ state }) => state)).toEqual(['waiting', 'dead', 'dead', 'dead']);
    expect(await release('2', '1')).toEqual(['released', 'released']);
    expect((await rows()).map(({ state }) => state)).toEqual(['waiting', 'held', 'held', 'dead']);
  });

  test('of which its partner was told is told of again only when it dies again, under another id', async () => {
    const errors = await addChannel(world, partner, { topic: topicFor(errorReport, partner), direction: 'out' });
    const reports = () =>
      world.database.query<{ id: string }>('SELECT DISTINCT id FROM outbox_message WHERE topic = :errors', { errors });
    await run(world, [tape.record()], kill('0'));
    await release('0');
    await passUntilIdle(drainOf(world, kill('0')));
    expect(await reports()).toHaveLength(2);
    const { id, version } = await row('0');
    await inTx((tx) => desk.discard(tx, id, version, by, new Date()));
    await inTx((tx) => desk.restore(tx, id, version + 1, by, new Date()));
    await passUntilIdle(drainOf(world));
    expect(await reports()).toHaveLength(2);
  });

  test('under an id that was another message is dead again, unless it was edited', async () => {
    await run(world, [tape.record({ id: 'same' }), tape.record({ id: 'same', key: 'order-2' })]);
    await release('1');
    await passUntilIdle(drainOf(world));
    expect(await rows()).toMatchObject([{ state: 'dead', code: 'message-id-reused' }]);
    expect(await appliedSteps(world, partner)).toEqual(['0']);
  });
});

describe('a dead letter that is discarded', () => {
  test('lets go what it held, and holds again what is left when it is restored', async () => {
    await run(
      world,
      tape.records(3, () => ({})),
      kill('0', '1'),
    );
    const { id, version } = await row('0');
    await inTx((tx) => desk.discard(tx, id, version, by, new Date()));
    expect((await rows())[0]).toMatchObject({ state: 'discarded', resolved_by: 'key_test', resolution: 'because' });
    await passUntilIdle(drainOf(world, kill('1')));
    expect((await rows()).map(({ state }) => state)).toEqual(['discarded', 'dead', 'held']);
    await inTx((tx) => desk.restore(tx, id, version + 1, by, new Date()));
    expect(await release('1')).toEqual(['behind']);
    expect(await release('0', '1')).toEqual(['released', 'released']);
    await passUntilIdle(drainOf(world));
    expect(await appliedSteps(world, partner)).toEqual(['0', '1', '2']);
  });

  test('parks its key again when it is restored after the key has ended', async () => {
    await run(world, [tape.record()], kill('0'));
    const { id, version } = await row('0');
    await inTx((tx) => desk.discard(tx, id, version, by, new Date()));
    expect(await parkedKeys(world, partner)).toEqual([]);
    await run(world, [tape.record()]);
    await inTx((tx) => desk.restore(tx, id, version + 1, by, new Date()));
    await run(world, [tape.record()]);
    expect(await parkedKeys(world, partner)).toEqual(['order-1']);
    expect((await rows()).map(({ state }) => state)).toEqual(['dead', 'held']);
    expect(await appliedSteps(world, partner)).toEqual(['1']);
  });

  test.each([
    ['is unknown', 'parked-unknown', { id: '999999999' }],
    ['was changed meanwhile', 'version-stale', { version: 7 }],
  ])('is refused where it %s', async (_, code, change) => {
    await run(world, [tape.record()], kill('0'));
    const { id, version } = { ...(await row('0')), ...change };
    await expect(inTx((tx) => desk.discard(tx, id, version, by, new Date()))).rejects.toMatchObject({ code });
    await expect(inTx((tx) => desk.restore(tx, id, version, by, new Date()))).rejects.toMatchObject({ code });
    expect(await rows()).toMatchObject([{ state: 'dead' }]);
  });
});

describe('an edit', () => {
  const mend = async (
    state: 'approved' | 'pending',
    document: unknown = { orderNumber: 'order-1', step: 'mended' },
  ) => {
    const { id, version } = await row('0');
    const edit = { parkedId: id, messageId: randomUUID(), document, diff: [], reason: 'r', madeBy: 'key_one', state };
    const editId = await inTx((tx) => desk.edit(tx, edit, version, new Date()));
    return { ...edit, editId };
  };

  test('is applied in place of the bytes, under an id of its own that nobody else can have', async () => {
    await run(world, [tape.record({ value: 'garbage' }), tape.record()]);
    const before = await inboxCount(world, topic);
    const { messageId } = await mend('approved');
    expect(await inboxCount(world, topic)).toBe(before + 1);
    await release('0');
    const causes: unknown[] = [];
    await passUntilIdle(
      drainOf(world, ({ id, causationId }) => {
        causes.push([id, causationId]);
        return undefined;
      }),
    );
    expect(causes[0]).toEqual([messageId, `${topic}-0-1`]);
    expect(await appliedSteps(world, partner)).toEqual(['mended', '1']);
    expect((await rows())[0]?.raw_value).toEqual(Buffer.from('garbage'));
    await run(world, [tape.record({ id: messageId, key: 'order-2' })]);
    expect((await rows()).at(-1)).toMatchObject({ state: 'dead', code: 'message-id-reused' });
  });

  test('that breaks the contract, or names another order than the key, is no better than the original', async () => {
    await run(world, [tape.record({ value: 'garbage' })]);
    for (const [document, code] of [
      [{}, 'invalid'],
      [{ orderNumber: 'order-9' }, 'key-mismatch'],
    ] as const) {
      await mend('approved', document);
      await release('0');
      await passUntilIdle(drainOf(world));
      expect(await rows()).toMatchObject([{ state: 'dead', code, failed_in: 'inspection' }]);
    }
  });

  test('counts only when a second person agrees', async () => {
    await run(world, [tape.record({ value: 'garbage' })]);
    const { editId } = await mend('pending');
    const decide = (by: string, verdict: 'approved' | 'refused' = 'approved', id = editId) =>
      inTx((tx) => desk.decide(tx, id, verdict, by, new Date()));
    await expect(decide('key_one')).rejects.toMatchObject({ code: 'edit-own' });
    await expect(decide('key_two', 'approved', '999999999')).rejects.toMatchObject({ code: 'edit-unknown' });
    await decide('key_two');
    await expect(decide('key_two', 'refused')).rejects.toMatchObject({ code: 'edit-decided' });
    await release('0');
    await passUntilIdle(drainOf(world));
    expect(await appliedSteps(world, partner)).toEqual(['mended']);
  });
});

describe('a message that waits', () => {
  test('is tried at once when staff want it', async () => {
    await run(
      world,
      tape.records(2, () => ({})),
      () => ({ kind: 'retry', code: 'too-early', detail: '' }),
    );
    const ids = (await rows()).map(({ id }) => id);
    expect(await inTx((tx) => desk.retryNow(tx, ids, new Date()))).toEqual([ids[0]]);
    await passUntilIdle(drainOf(world));
    expect(await appliedSteps(world, partner)).toEqual(['0', '1']);
  });
});
