import { pino } from 'pino';
import { CONTRACTS, orderRequest } from '../../../src/contracts';
import { Exchanges } from '../../../src/messaging/exchanges';
import { produce, uniqueName } from '../../support/kafka';
import { cancel, exchangesOf, send } from '../orders/orders-app';
import { type Asked, type DeadlinesApp, expectIn, HOUR, startDeadlines } from './deadlines-app';

describe('deadlines', () => {
  let app: DeadlinesApp;

  beforeAll(async () => {
    app = await startDeadlines();
  });
  afterAll(() => app.close());

  const steps = async (one: Asked) => (await app.story(one)).map(({ step }) => step);
  /** Sends it as often as its contract allows, and lets it become overdue. */
  const overdue = async (): Promise<Asked> => {
    const one = await app.late();
    for (let pass = 0; pass < 3; pass++) {
      await app.watcher().pass();
      await app.publish(one.messageId);
      await app.age(one, HOUR);
    }
    expect(await app.ledger(one)).toMatchObject({ state: 'overdue' });
    return one;
  };

  it('are left alone while the partner has time', async () => {
    const one = await app.asked();
    expect(await app.watcher().pass()).toEqual({ resent: 0, overdue: 0 });
    expect(await app.ledger(one)).toMatchObject({ state: 'awaiting', resends: 0 });
    expect((await app.story(one)).at(-1)?.['text']).toMatch(/, due in 60 min \(/);
  });

  it('have the request sent again when they pass: the same id, correlation id and bytes, a new number and a new deadline', async () => {
    const one = await app.late();
    const [before, wakes] = [await app.ledger(one), app.wakes()];
    expect(await app.watcher().pass()).toEqual({ resent: 1, overdue: 0 });
    expect(app.wakes()).toBe(wakes + 1);
    const [first, again, ...more] = await app.requests(one);
    expect(more).toEqual([]);
    expect(again).toEqual({ ...first, seq: expect.any(String) as string });
    expect(BigInt(String(again?.['seq']))).toBeGreaterThan(BigInt(String(first?.['seq'])));
    const { deadline, lookAt, ...after } = await app.ledger(one);
    expect(after).toMatchObject({
      state: 'awaiting',
      resends: 1,
      requestSeq: before.requestSeq,
      resentSeq: again?.['seq'],
    });
    expect(lookAt).toEqual(deadline);
    expectIn(deadline, HOUR / 2);
    expect(await app.show(one)).toMatchObject({ state: 'placed', version: 2, overdueSince: null });
    await app.publish(one.messageId);
    expect((await app.story(one)).slice(1)).toMatchObject([
      { step: 'published', offset: first?.['seq'] },
      {
        step: 'sent-again',
        messageId: one.messageId,
        text: expect.stringContaining('sent again (1 of 2) under the same id, due in 30 min') as string,
      },
      { step: 'published', offset: again?.['seq'] },
      { step: 'waiting-for-answer', text: expect.stringContaining('due in 30 min') as string },
    ]);
  });

  it('make it overdue after that, once, and the order is listed so until the answer comes', async () => {
    const one = await overdue();
    expect(await app.ledger(one)).toMatchObject({
      resends: 2,
      lookAt: null,
      endReason: 'no answer, though sent 3 times',
    });
    expect(await app.requests(one)).toHaveLength(3);
    expect(await app.watcher().pass()).toEqual({ resent: 0, overdue: 0 });
    const shown = await app.show(one);
    expect(shown['overdueSince']).toEqual(expect.any(String));
    const listed = async () =>
      ((await send(app, 'GET', `/v1/orders?overdue=true&partner=${app.partner}`)).json['items'] as Asked[]).map(
        ({ orderNumber }) => orderNumber,
      );
    expect(await listed()).toEqual([one.orderNumber]);
    expect((await steps(one)).filter((step) => /overdue|sent-again/.test(String(step)))).toEqual([
      'sent-again',
      'sent-again',
      'overdue',
      'answer-overdue',
    ]);
    await app.answer(one, 'AP');
    expect(await app.ledger(one)).toMatchObject({ state: 'answered-late', answerCode: 'AP' });
    expect(await app.show(one)).toMatchObject({ state: 'accepted', overdueSince: null });
    expect(await listed()).toEqual([]);
    expect((await app.story(one)).at(-1)?.['text']).toBe(`${app.partner} accepted the order, after the deadline.`);
  });

  it('call an answer late that comes between sending again and overdue, and the exchange answered', async () => {
    const one = await app.late();
    await app.watcher().pass();
    await app.answer(one, 'RE');
    expect(await app.ledger(one)).toMatchObject({ state: 'answered' });
    expect((await app.story(one)).at(-1)?.['text']).toContain('rejected the order, after the deadline');
    expect(await app.watcher().pass()).toEqual({ resent: 0, overdue: 0 });
  });

  it('are those of the final answer after an interim one: nothing is sent again, the partner has it', async () => {
    const one = await app.asked();
    await app.answer(one, 'AB');
    const { deadline, lookAt } = await app.ledger(one);
    expect(lookAt).toEqual(deadline);
    expectIn(deadline, orderRequest.interimDeadlineMs ?? 0);
    await app.answer(one, 'AB');
    expect((await app.ledger(one)).deadline).toEqual(deadline);
    await app.age(one, 25 * HOUR);
    expect(await app.watcher().pass()).toEqual({ resent: 0, overdue: 1 });
    expect(await app.ledger(one)).toMatchObject({
      state: 'overdue',
      endReason: 'acknowledged, and no final answer in time',
    });
    // Who acknowledges once more is not given the time once more.
    await app.answer(one, 'AB');
    expect(await app.ledger(one)).toMatchObject({ state: 'overdue' });
    expect((await app.show(one))['overdueSince']).not.toBeNull();
    await app.answer(one, 'AP');
    expect(await app.ledger(one)).toMatchObject({ state: 'answered-late' });
  });

  it('begin anew with an interim answer that comes when it is overdue', async () => {
    const one = await overdue();
    await app.answer(one, 'AB');
    expect(await app.ledger(one)).toMatchObject({ state: 'acknowledged' });
    expect(await app.show(one)).toMatchObject({ state: 'acknowledged', overdueSince: null });
  });

  it('watch a cancellation for itself: the order is overdue while either answer is', async () => {
    const one = await app.asked();
    await cancel(app, one.orderNumber);
    const [correlationId = ''] = await exchangesOf(app, one.orderNumber, 'order-cancellation');
    const [row] = await app.database.query<{ id: string }>(
      'SELECT request_message_id AS id FROM exchange WHERE correlation_id = :correlationId',
      { correlationId },
    );
    const cancellation = { ...one, correlationId, messageId: row?.id ?? '' };
    await app.publish(cancellation.messageId);
    for (let pass = 0; pass < 3; pass++) {
      await app.age(cancellation, 2 * HOUR);
      await app.watcher().pass();
      await app.publish(cancellation.messageId);
    }
    expect(await app.ledger(cancellation)).toMatchObject({ state: 'overdue' });
    expect(await app.ledger(one)).toMatchObject({ state: 'awaiting' });
    expect((await app.show(one))['overdueSince']).not.toBeNull();
    await app.answer(one, 'AP');
    expect(await app.show(one)).toMatchObject({ state: 'accepted', overdueSince: expect.any(String) as string });
  });

  describe('are not judged', () => {
    const untouched = async (one: Asked) => {
      expect(await app.ledger(one)).toMatchObject({ state: 'awaiting', resends: 0 });
      return (await app.story(one)).at(-1)?.['text'];
    };

    it('while the request waits to be published; the time begins when it is', async () => {
      const one = await app.asked();
      await app.age(one, HOUR + 60_000);
      await app.database.transaction((tx) => tx.query('DELETE FROM outbox_receipt'));
      const began = Date.now();
      await app.watcher().pass();
      expect(await untouched(one)).toContain('which is not judged yet: the request is not published yet');
      const { lookAt } = await app.ledger(one);
      expect(lookAt?.getTime()).toBeGreaterThan(began + 50_000);
      // Published an hour after it was written, and looked at again.
      await app.publish(one.messageId);
      await app.age(one, HOUR);
      await app.database.transaction((tx) =>
        tx.query(`UPDATE outbox_receipt SET sent_at = now() - interval '10 minutes'`),
      );
      expect(await app.watcher().pass()).toEqual({ resent: 0, overdue: 0 });
      const { deadline } = await app.ledger(one);
      expectIn(deadline, 50 * 60_000);
      expect(await untouched(one)).toContain('due in 50 min');
    });

    it('while an answer to it is parked, and are once nothing is', async () => {
      const one = await app.late();
      await app.answer(one, 'CA');
      expect((await steps(one)).filter((step) => step === 'answer-refused')).toHaveLength(1);
      await app.watcher().pass();
      expect(await untouched(one)).toContain(`a message of ${app.partner} that answers it is parked`);
      await app.database.transaction((tx) =>
        tx.query(`UPDATE parked_inbound SET state = 'discarded', resolved_at = now() WHERE correlation_id = $1`, [
          one.correlationId,
        ]),
      );
      await app.age(one, HOUR);
      expect(await app.watcher().pass()).toMatchObject({ resent: 1 });
    });

    it('while nobody can say how far answers have been read', async () => {
      const one = await app.late();
      await app.database.transaction((tx) => tx.query('DELETE FROM reply_watch'));
      await expect(app.watcher({ brokers: '127.0.0.1:1' }).pass()).rejects.toMatchObject({
        code: 'broker-unreachable',
      });
      expect(await untouched(one)).toContain('nobody has said yet how far the answer topic has been read');
    });
  });

  it('make it overdue, and say why nothing was sent again, when the outbox no longer keeps the request', async () => {
    const one = await app.late();
    await app.database.transaction((tx) =>
      tx.query('DELETE FROM outbox_message WHERE aggregateid = $1', [one.orderNumber]),
    );
    expect(await app.watcher().pass()).toMatchObject({ overdue: 1 });
    expect(await app.ledger(one)).toMatchObject({
      state: 'overdue',
      resends: 0,
      endReason: 'no answer in time; the outbox no longer keeps the request, so it was not sent again',
    });
  });

  it('make it overdue when staff have discarded the request that the broker refused, and the story says so all along', async () => {
    const one = await app.asked();
    await app.database.transaction(async (tx) => {
      await tx.query('DELETE FROM outbox_receipt');
      await tx.query(
        `INSERT INTO parked_outbound (seq, topic, partition, key, message_id, state, parked_at, discarded_by, discard_reason, discarded_at)
         SELECT seq, topic, partition, aggregateid, id, 'discarded', now(), 'test', 'settled by telephone', now() FROM outbox_message WHERE aggregateid = $1`,
        [one.orderNumber],
      );
    });
    expect((await app.story(one)).slice(1)).toMatchObject([
      {
        step: 'not-published',
        text: 'The order was discarded by staff and is never sent: settled by telephone',
        at: expect.any(String) as string,
      },
    ]);
    await app.age(one, HOUR + 60_000);
    expect(await app.watcher().pass()).toMatchObject({ resent: 0, overdue: 1 });
    expect(await app.ledger(one)).toMatchObject({
      state: 'overdue',
      endReason: 'staff discarded the request, so it was never sent',
    });
  });

  it('of others are dealt with when one can not be, which is said and tried again', async () => {
    const many = await Promise.all(Array.from({ length: 7 }, () => app.late()));
    const bad = many[3] as Asked;
    await app.database.transaction((tx) =>
      tx.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'broken on purpose'; END $$;
        CREATE TRIGGER refuse BEFORE INSERT ON order_event FOR EACH ROW WHEN (NEW.order_number = '${bad.orderNumber}') EXECUTE FUNCTION refuse()`),
    );
    const lines: Record<string, unknown>[] = [];
    const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) });
    expect(await app.watcher({ logger }).pass()).toEqual({ resent: 6, overdue: 0 });
    expect(lines).toContainEqual(
      expect.objectContaining({
        code: 'deadline-failed',
        order: bad.orderNumber,
        reason: expect.stringContaining('broken on purpose') as string,
      }),
    );
    expect(await app.ledger(bad)).toMatchObject({ state: 'awaiting', resends: 0 });
    await app.database.transaction((tx) => tx.query('DROP TRIGGER refuse ON order_event'));
    await app.age(bad, HOUR);
    expect(await app.watcher().pass()).toEqual({ resent: 1, overdue: 0 });
  });

  it('have a handler each', () => {
    expect(() => app.app.get(Exchanges).deadlines.check(CONTRACTS)).not.toThrow();
  });

  it('pass over a group that never joined: an answer topic with records that nobody has read is not read', async () => {
    const one = await app.late();
    await app.database.transaction((tx) => tx.query('DELETE FROM reply_watch'));
    await produce(app.topic, [{ key: one.orderNumber, value: 'x', partition: 2 }]);
    const watcher = app.watcher({ group: uniqueName('nobody') });
    expect(await watcher.pass()).toEqual({ resent: 0, overdue: 0 });
    expect(await watcher.pass()).toEqual({ resent: 0, overdue: 0 });
    expect(await app.ledger(one)).toMatchObject({ resends: 0 });
  });
});
