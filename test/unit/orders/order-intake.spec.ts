import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Order } from '../../../src/orders/domain/order';
import { OrderIntake } from '../../../src/orders/order-intake';
import type { Placement, Written } from '../../../src/orders/placement-writer';
import { AppError } from '../../../src/platform/errors';

const at = new Date(0);
const orderOf = (placement: Placement): Order => ({
  orderNumber: placement.orderNumber ?? 'ours',
  partner: 'acme',
  state: 'placed',
  version: 1,
  currency: 'EUR',
  lines: [],
  contact: null,
  agreedLines: null,
  cancellation: null,
  overdue: null,
  deadline: at,
  createdAt: at,
  updatedAt: at,
});
const placement = (orderNumber: string, key = orderNumber, linesJson = '[]'): Placement => ({
  orderNumber,
  caller: 'c',
  callerName: 'erp',
  key,
  keyLock: '1',
  requestHash: Buffer.alloc(32),
  partner: 'acme',
  currency: 'EUR',
  lines: [],
  linesJson,
  contact: undefined,
  contactJson: null,
  messageId: 'm',
  correlationId: 'x',
  traceparent: 't',
});

/** A writer whose transactions end when the test says so. */
function heldWriter() {
  const batches: {
    placements: readonly Placement[];
    finish: (results?: Written[]) => void;
    fail: (error: Error) => void;
  }[] = [];
  const write = (placements: readonly Placement[]) =>
    new Promise<Written[]>((resolve, reject) => {
      batches.push({
        placements,
        finish: (results) => resolve(results ?? placements.map((one) => ({ kind: 'placed', order: orderOf(one) }))),
        fail: reject,
      });
    });
  const numbersOf = (index: number) => batches[index]?.placements.map((one) => one.orderNumber);
  return { write, batches, numbersOf };
}

describe('the intake of orders', () => {
  it('writes an order alone at once', async () => {
    const writer = heldWriter();
    const answer = new OrderIntake(writer).place(placement('a'));
    await nextTurn();
    expect(writer.numbersOf(0)).toEqual(['a']);
    writer.batches[0]?.finish();
    expect(await answer).toMatchObject({ orderNumber: 'a' });
  });

  it('lets what comes while every slot is busy share the next transaction', async () => {
    const writer = heldWriter();
    const intake = new OrderIntake(writer);
    const answers = [];
    for (const name of ['a', 'b', 'c']) {
      answers.push(intake.place(placement(name)));
      await nextTurn();
    }
    for (const name of ['d', 'e', 'f']) answers.push(intake.place(placement(name)));
    await nextTurn();
    expect(writer.batches).toHaveLength(3);
    writer.batches[1]?.finish();
    await nextTurn();
    expect(writer.numbersOf(3)).toEqual(['d', 'e', 'f']);
    for (const batch of writer.batches) batch.finish();
    expect(await Promise.all(answers)).toHaveLength(6);
  });

  it('answers nothing before the transaction ends', async () => {
    const writer = heldWriter();
    let answered = false;
    const answer = new OrderIntake(writer).place(placement('a')).then(() => (answered = true));
    await nextTurn();
    await nextTurn();
    expect(answered).toBe(false);
    writer.batches[0]?.finish();
    await answer;
  });

  it('refuses a key that is on its way, and takes it again afterwards', async () => {
    const writer = heldWriter();
    const intake = new OrderIntake(writer);
    const first = intake.place(placement('a', 'k'));
    await expect(intake.place(placement('b', 'k'))).rejects.toMatchObject({ code: 'idempotency-key-in-progress' });
    await nextTurn();
    writer.batches[0]?.finish();
    await first;
    const second = intake.place(placement('c', 'k'));
    await nextTurn();
    writer.batches[1]?.finish();
    expect(await second).toMatchObject({ orderNumber: 'c' });
  });

  it('never puts one order number into a transaction twice', async () => {
    const writer = heldWriter();
    const intake = new OrderIntake(writer);
    const answers = [
      intake.place(placement('a', 'k1')),
      intake.place(placement('a', 'k2')),
      intake.place(placement('b')),
    ];
    await nextTurn();
    expect(writer.numbersOf(0)).toEqual(['a', 'b']);
    expect(writer.numbersOf(1)).toEqual(['a']);
    for (const batch of writer.batches) batch.finish();
    await Promise.all(answers);
  });

  it('bounds a transaction by its orders and by its bytes', async () => {
    const writer = heldWriter();
    const intake = new OrderIntake(writer);
    for (let n = 0; n < 450; n++) intake.place(placement(`n${n}`)).catch(() => undefined);
    await nextTurn();
    expect(writer.batches.map((batch) => batch.placements.length)).toEqual([200, 200, 50]);
    const large = heldWriter();
    const second = new OrderIntake(large);
    for (let n = 0; n < 3; n++) second.place(placement(`n${n}`, `n${n}`, 'x'.repeat(3_000_000))).catch(() => undefined);
    await nextTurn();
    expect(large.batches.map((batch) => batch.placements.length)).toEqual([1, 1, 1]);
  });

  it('splits a failing transaction down to the order that makes it fail', async () => {
    const written: (string | undefined)[] = [];
    const intake = new OrderIntake({
      write: async (placements) => {
        if (placements.some((one) => one.orderNumber === 'n5')) throw new Error('poison');
        written.push(...placements.map((one) => one.orderNumber));
        return placements.map((one) => ({ kind: 'placed', order: orderOf(one) }));
      },
    });
    const answers = await Promise.allSettled(Array.from({ length: 9 }, (_, n) => intake.place(placement(`n${n}`))));
    expect(answers.map((answer) => answer.status)).toEqual(
      Array.from({ length: 9 }, (_, n) => (n === 5 ? 'rejected' : 'fulfilled')),
    );
    expect(written).toHaveLength(8);
  });

  it('does not split when the database is away: that is no order’s fault', async () => {
    let calls = 0;
    const intake = new OrderIntake({
      write: async () => {
        calls++;
        throw Object.assign(new Error('x'), { code: 'ECONNREFUSED' });
      },
    });
    const answers = await Promise.allSettled(Array.from({ length: 8 }, (_, n) => intake.place(placement(`n${n}`))));
    expect(answers.every((answer) => answer.status === 'rejected')).toBe(true);
    expect(calls).toBe(1);
  });

  it('tries again what must be tried again, not for ever', async () => {
    let calls = 0;
    const intake = new OrderIntake({
      write: async (placements) => (calls++, placements.map(() => ({ kind: 'again' }))),
    });
    await expect(intake.place(placement('a'))).rejects.toMatchObject({ code: 'order-number-exhausted' });
    expect(calls).toBe(5);
  });

  it('turns away what would only wait to time out', async () => {
    const intake = new OrderIntake(heldWriter());
    for (let n = 0; n < 5000; n++) intake.place(placement(`n${n}`)).catch(() => undefined);
    const refused = await intake.place(placement('late')).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(AppError);
    expect(refused).toMatchObject({ code: 'overloaded', retriable: true });
  });
});
