import { orderResponse, OWN_SYSTEMS, topicFor } from '../../../src/contracts';
import { TestBatch } from '../consumer/harness';
import { addPartner, anOrder, answerRecord, consumerOf, exchangesOf, place } from '../orders/orders-app';
import { HOUR, HOURS, WatchApp } from './watch-app';

describe("a partner's silence", () => {
  let watch: WatchApp;
  let consumer: Awaited<ReturnType<typeof consumerOf>>;

  beforeEach(async () => {
    watch = await WatchApp.start();
    consumer = await consumerOf(watch.orders);
  });
  afterEach(async () => {
    await consumer.close();
    await watch.orders.close();
  });

  const silent = () => watch.told('partner-silent');
  const placed = async (partner = 'acme') => {
    const { orderNumber } = (await place(watch.orders, anOrder({ partner }))).json as { orderNumber: string };
    const [correlationId = ''] = await exchangesOf(watch.orders, orderNumber, 'order-request');
    return { orderNumber, correlationId, partner };
  };
  /** It is as long ago as the watchers' clock is ahead. */
  const opened = ({ correlationId }: { correlationId: string }, hoursAgo: number) =>
    watch.write('UPDATE exchange SET opened_at = :at WHERE correlation_id = :correlationId', {
      at: new Date(watch.now.getTime() - hoursAgo * HOUR),
      correlationId,
    });
  /** The answer topic has been read until watch.now, or until so many hours before. */
  const read = (partner = 'acme', hoursAgo = 0) =>
    watch.write(
      `INSERT INTO reply_watch (topic, read_up_to) VALUES (:topic, :at) ON CONFLICT (topic) DO UPDATE SET read_up_to = EXCLUDED.read_up_to`,
      { topic: topicFor(orderResponse, partner), at: new Date(watch.now.getTime() - hoursAgo * HOUR) },
    );
  const answer = async ({ partner, correlationId, orderNumber }: Awaited<ReturnType<typeof placed>>) => {
    await consumer.process(new TestBatch([answerRecord(partner, correlationId, { orderNumber, responseCode: 'AB' })]));
    // As if it had come by the watchers' clock.
    await watch.write(
      "UPDATE inbox SET received_at = :now WHERE received_at > :now::timestamptz - interval '1 year' AND message_id = (SELECT answer_message_id FROM exchange WHERE correlation_id = :correlationId)",
      { now: watch.now, correlationId },
    );
  };
  const lookRead = async (hours: number) => {
    watch.pass(hours);
    await read();
    await watch.watchers().look();
  };

  it('is told once, when nothing has come for so long although something is waited for', async () => {
    await watch.look();
    const one = await placed();
    await opened(one, 0);
    await opened(await placed(), -1);
    await lookRead(HOURS - 0.1);
    expect(await silent()).toEqual([]);
    const since = new Date(watch.now.getTime() - (HOURS - 0.1) * HOUR).toISOString();
    await lookRead(0.2);
    expect(await silent()).toEqual([
      { partner: { id: 'acme', name: 'acme' }, at: watch.now.toISOString(), since, count: 2 },
    ]);
    for (const hours of [1, 24, 48]) await lookRead(hours);
    expect(await silent()).toHaveLength(1);
  });

  it('is judged of overdue requests too, and not of partners that owe nothing', async () => {
    await watch.look();
    const { correlationId } = await placed();
    await watch.write(
      `UPDATE exchange SET state = 'overdue', look_at = NULL, ended_at = now() WHERE correlation_id = :correlationId`,
      { correlationId },
    );
    await read('umbra');
    await lookRead(HOURS + 1);
    expect((await silent()).map(({ partner }) => partner)).toMatchObject([{ id: 'acme' }]);
  });

  it('is another one after a message, or when everything waited for was withdrawn and something is asked anew', async () => {
    await watch.look();
    const one = await placed();
    await lookRead(HOURS + 1);
    await answer(one);
    const heard = watch.now.toISOString();
    await lookRead(0.5);
    expect(await silent()).toHaveLength(1);
    await lookRead(HOURS);
    expect(await silent()).toMatchObject([{}, { since: heard }]);
    await watch.write(`UPDATE exchange SET state = 'withdrawn', ended_at = now()`);
    await lookRead(1);
    const anew = await placed();
    await opened(anew, 0);
    await lookRead(1);
    expect(await silent()).toHaveLength(2);
    await lookRead(HOURS);
    expect(await silent()).toHaveLength(3);
  });

  it('goes on where the oldest of several requests is withdrawn', async () => {
    await watch.look();
    const [first, second] = [await placed(), await placed()];
    await opened(second, -20);
    await lookRead(HOURS + 1);
    expect(await silent()).toHaveLength(1);
    await watch.write(`UPDATE exchange SET state = 'withdrawn', ended_at = now() WHERE correlation_id = :id`, {
      id: first.correlationId,
    });
    await lookRead(1);
    await lookRead(HOURS * 2);
    expect(await silent()).toHaveLength(1);
  });

  it.each(['paused', 'suspended'])(
    'is not that of a partner that is %s; its time begins anew when it is resumed',
    async (state) => {
      await watch.look();
      await placed();
      const stand = (as: string) =>
        watch.write("UPDATE partner SET state = :as, state_since = :now WHERE id = 'acme'", { as, now: watch.now });
      await stand(state);
      await lookRead(HOURS + 1);
      expect(await silent()).toEqual([]);
      await stand('active');
      await lookRead(HOURS - 1);
      expect(await silent()).toEqual([]);
      await lookRead(1);
      expect(await silent()).toHaveLength(1);
    },
  );

  it('is not held against a partner whose answers we have not read', async () => {
    await watch.look();
    await placed();
    await watch.look(HOURS + 1);
    expect(await silent()).toEqual([]);
    await read('acme', HOURS);
    await watch.look();
    expect(await silent()).toEqual([]);
    await read();
    await watch.look();
    expect(await silent()).toHaveLength(1);
  });

  it('is not that of our own systems, which owe no answers', async () => {
    await addPartner(watch.orders.database, OWN_SYSTEMS, 'json');
    await watch.look();
    await placed();
    for (const hours of [HOURS + 1, HOURS, 24 * HOURS]) await lookRead(hours);
    expect((await silent()).map(({ partner }) => partner)).toMatchObject([{ id: 'acme' }]);
  });

  it('is heard by a watcher that was away for days, and looked for no more where it is told not to', async () => {
    await watch.look();
    const one = await placed();
    watch.pass(72);
    await answer(one);
    await read();
    watch.pass(2);
    await watch.watchers(0).look();
    await watch.watchers().look();
    expect(await silent()).toEqual([]);
  });
});
