import { type LaneBatch, type LaneReceipt, PublishError } from '../../../../src/messaging/kafka';
import type { Carried, Lane } from '../../../../src/messaging/outbox/lane';
import { Lanes } from '../../../../src/messaging/outbox/lanes';
import type { Death } from '../../../../src/messaging/outbox/lanes-options';
import { PARKING_TIMES } from '../../../../src/messaging/outbox/parking/parking-rules';
import type { QueuedRow } from '../../../../src/messaging/outbox/queued-row';
import { eventually } from '../../../support/eventually';

interface Held {
  seqs: number[];
  acknowledge(): void;
  fail(error: Error): void;
}

const row = (seq: number, key = `k${seq}`, partition = 0): QueuedRow => ({
  seq: BigInt(seq),
  topic: 't',
  partition,
  key,
  record: { key, value: null, headers: { ce_id: String(seq) } },
  size: 10,
  time: '2026-01-01T00:00:00.000Z',
  read: { left: 1 },
});
const numbers = (rows: readonly QueuedRow[]) => rows.map(({ seq }) => Number(seq));
const refusal = () => new PublishError('invalid-record', 'refused', 't', 0, 'no');

/** Lanes whose every send is held until the test says what becomes of it. */
function held() {
  const sends: Held[] = [];
  let offset = 100n;
  const publisher = {
    leaderOf: () => Promise.resolve(1),
    send: ({ topic, partition, records }: LaneBatch) => {
      const { promise, resolve, reject } = Promise.withResolvers<LaneReceipt>();
      const baseOffset = offset;
      offset += BigInt(records.length);
      const seqs = records.map((record) => Number(record.headers['ce_id']));
      sends.push({ seqs, acknowledge: () => resolve({ topic, partition, baseOffset }), fail: reject });
      return promise;
    },
    close: () => Promise.resolve(),
  };
  const sent: [number[], bigint][] = [];
  const parked: [number[], string, Death | undefined][] = [];
  const nothing = () => undefined;
  const lanes = new Lanes({
    publisher,
    quarantine: publisher,
    maxMessageBytes: nothing,
    parking: { ...PARKING_TIMES, afterMs: 0 },
    log: { info: nothing, warn: nothing, debug: nothing },
    onSent: (rows, { baseOffset }) => sent.push([numbers(rows), baseOffset]),
    onFailed: nothing,
    onParked: (_, rows, state, dead) => parked.push([numbers(rows), state, dead]),
    mayPublish: () => true,
    isFull: () => false,
  });
  const lane = lanes.lane('t', 0);
  lane.held.set('k50', undefined);
  /** The send with this index, counted from 0. */
  const send = (index: number): Promise<Held> => eventually(() => sends[index], { what: `send ${index}`, interval: 1 });
  return { lanes, lane, sends, send, sent, parked };
}

/** What `carry` ended with, as a value. */
const carry = (lanes: Lanes, lane: Lane, ...rows: QueuedRow[]) =>
  lanes.carry(lane, rows).then(
    (carried: Carried) =>
      carried.kind === 'sent'
        ? ['sent', numbers(carried.rows), carried.receipt.baseOffset]
        : ['dead', Number(carried.row.seq), carried.code],
    (error: PublishError) => ['failed', error.code],
  );

describe('parked rows that are given to a lane whose own rows are being sent', () => {
  it('are sent behind them: each row once, with its own receipt', async () => {
    const { lanes, lane, sends, send, sent } = held();
    lanes.add([row(1), row(2)]);
    const own = await send(0);
    const carried = carry(lanes, lane, row(50));
    lanes.add([row(3)]);
    own.acknowledge();
    (await send(1)).acknowledge();
    expect(await carried).toEqual(['sent', [50], 102n]);
    (await send(2)).acknowledge();
    await lanes.close();
    expect(sent).toEqual([
      [[1, 2], 100n],
      [[3], 103n],
    ]);
    expect(sends.map(({ seqs }) => seqs)).toEqual([[1, 2], [50], [3]]);
  });

  it('wait until own rows whose outcome is unknown are sent again', async () => {
    const { lanes, lane, sends, send, sent } = held();
    lanes.add([row(1), row(2)]);
    const own = await send(0);
    const carried = carry(lanes, lane, row(50));
    own.fail(new Error('the answer was lost'));
    (await send(1)).acknowledge();
    (await send(2)).acknowledge();
    expect(await carried).toEqual(['sent', [50], 104n]);
    expect(sends.map(({ seqs }) => seqs)).toEqual([[1, 2], [1, 2], [50]]);
    expect(sent).toEqual([[[1, 2], 102n]]);
  });

  it('have no part in a refusal of own rows: these are halved to the end, and the offender is dead', async () => {
    const { lanes, lane, sends, send, sent, parked } = held();
    lanes.add([row(1), row(2), row(3)]);
    const own = await send(0);
    const carried = carry(lanes, lane, row(50));
    own.fail(refusal());
    (await send(1)).fail(refusal());
    for (let n = 2; n < 5; n++) (await send(n)).fail(refusal());
    (await send(5)).acknowledge();
    expect(await carried).toEqual(['sent', [50], expect.any(BigInt)]);
    (await send(6)).acknowledge();
    await lanes.close();
    expect(sends.map(({ seqs }) => seqs)).toEqual([[1, 2, 3], [1, 2], [1], [1], [1], [50], [2, 3]]);
    expect(parked).toEqual([[[1], 'held', expect.objectContaining({ code: 'invalid-record' })]]);
    expect(sent).toEqual([[[2, 3], expect.any(BigInt)]]);
  });

  it('are refused for themselves: what was refused of own rows before does not count', async () => {
    const { lanes, lane, sends, send, parked } = held();
    lanes.add([row(1)]);
    const own = await send(0);
    const carried = carry(lanes, lane, row(50), row(51, 'k50'));
    own.fail(refusal());
    (await send(1)).fail(refusal());
    (await send(2)).acknowledge();
    (await send(3)).fail(refusal());
    lanes.add([row(2)]);
    for (let n = 4; n < 7; n++) (await send(n)).fail(refusal());
    expect(await carried).toEqual(['dead', 50, 'invalid-record']);
    (await send(7)).acknowledge();
    await lanes.close();
    expect(sends.map(({ seqs }) => seqs)).toEqual([[1], [1], [1], [50, 51], [50], [50], [50], [2]]);
    expect(parked).toEqual([]);
  });

  it('go back when the lane is parked meanwhile', async () => {
    const { lanes, lane, sends, send, parked } = held();
    lanes.add([row(1)]);
    const own = await send(0);
    const carried = carry(lanes, lane, row(50));
    // Another lane flows: it is this one that fails.
    lanes.add([row(9, 'k9', 1)]);
    own.fail(new PublishError('not-authorized', 'refused', 't', 0, 'no right'));
    (await send(1)).acknowledge();
    (await send(2)).fail(new PublishError('not-authorized', 'refused', 't', 0, 'no right'));
    expect(await carried).toEqual(['failed', 'not-authorized']);
    expect(lane.parked).toMatchObject({ code: 'not-authorized' });
    expect(parked).toEqual([[[1], 'waiting', undefined]]);
    // The parked row is sent before one that came while the lane is about to leave.
    lane.parked = { code: 'not-authorized', reason: '', leaving: true };
    lanes.add([row(2)]);
    const again = carry(lanes, lane, row(1));
    (await send(3)).acknowledge();
    expect(await again).toEqual(['sent', [1], expect.any(BigInt)]);
    lanes.unpark(lane);
    (await send(4)).acknowledge();
    await lanes.close();
    expect(sends.map(({ seqs }) => seqs)).toEqual([[1], [9], [1], [1], [2]]);
  });

  it('go back when the partner is paused meanwhile, and nothing more is sent to it', async () => {
    const { lanes, lane, sends, send, sent, parked } = held();
    lanes.add([row(1)]);
    const own = await send(0);
    const carried = carry(lanes, lane, row(50));
    lanes.add([row(2)]);
    lanes.stop(new Map([['t', { code: 'partner-paused', words: 'since today' }]]));
    own.acknowledge();
    expect(await carried).toEqual(['failed', 'partner-paused']);
    await lanes.close();
    expect(sent).toEqual([[[1], 100n]]);
    expect(parked).toEqual([[[2], 'waiting', undefined]]);
    expect(sends).toHaveLength(1);
  });

  it('go back when the relay stops, and what was sent before keeps its receipt', async () => {
    const { lanes, lane, sends, send, sent } = held();
    lanes.add([row(1)]);
    const own = await send(0);
    const carried = carry(lanes, lane, row(50));
    const closed = lanes.close();
    own.acknowledge();
    await closed;
    expect(await carried).toEqual(['failed', 'closed']);
    expect(sent).toEqual([[[1], 100n]]);
    expect(sends).toHaveLength(1);
  });
});

describe('a key that is let go', () => {
  it('stays held when another of its rows has died meanwhile', async () => {
    const { lanes, lane, sends, send, parked } = held();
    lanes.add([row(1, 'k')]);
    lane.held.set('k', []);
    for (let n = 0; n < 3; n++) (await send(n)).fail(refusal());
    await eventually(() => parked.length > 0);
    lanes.release(lane, 'k');
    lanes.add([row(2, 'k')]);
    expect(parked.map(([seqs, state]) => [seqs, state])).toEqual([
      [[1], 'held'],
      [[2], 'held'],
    ]);
    await lanes.close();
    expect(sends.map(({ seqs }) => seqs)).toEqual([[1], [1], [1]]);
  });
});
