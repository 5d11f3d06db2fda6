import { notificationsOf, subscribe } from '../../support/receivers';
import { type Asked, type DeadlinesApp, HOUR, startDeadlines } from '../exchanges/deadlines-app';
import { cancel, exchangesOf } from './orders-app';

describe('what people are told of overdue answers', () => {
  let app: DeadlinesApp;

  beforeAll(async () => {
    app = await startDeadlines();
    await subscribe(app.database, { id: 'ops-desk', kinds: ['order-overdue', 'order-accepted'] });
  });
  afterAll(() => app.close());

  const told = ({ orderNumber }: Asked) => notificationsOf(app.database, orderNumber);
  /** Passes of the watcher, each an hour after the last, until the request is overdue. */
  const overdue = async (one: Asked) => {
    for (let pass = 0; pass < 4 && (await app.ledger(one)).state !== 'overdue'; pass++) {
      await app.age(one, HOUR);
      await app.watcher().pass();
      await app.publish(one.messageId);
    }
    expect(await app.ledger(one)).toMatchObject({ state: 'overdue' });
  };

  it('is nothing while a request is sent again, and once when it is overdue', async () => {
    const one = await app.late();
    await app.watcher().pass();
    expect(await app.ledger(one)).toMatchObject({ state: 'awaiting', resends: 1 });
    expect(await told(one)).toEqual([]);
    await app.publish(one.messageId);
    await overdue(one);
    await app.watcher().pass();
    const { resends, deadline } = await app.ledger(one);
    const notices = await told(one);
    expect(notices).toMatchObject([{ kind: 'order-overdue', data: { orderNumber: one.orderNumber, count: resends } }]);
    expect(notices[0]?.data).toMatchObject({ deadline: deadline.toISOString() });
    expect(notices[0]?.data).not.toHaveProperty('cancellation');
  });

  it('is followed by the late answer, once, however often that comes', async () => {
    const one = await app.late();
    await overdue(one);
    await app.answer(one, 'AP');
    await app.answer(one, 'AP');
    expect((await told(one)).map(({ kind }) => kind)).toEqual(['order-overdue', 'order-accepted']);
  });

  it('says so where it is the answer to a cancellation', async () => {
    const one = await app.asked();
    expect((await cancel(app, one.orderNumber)).status).toBe(202);
    const [correlationId = ''] = await exchangesOf(app, one.orderNumber, 'order-cancellation');
    const [row] = await app.database.query<{ messageId: string }>(
      'SELECT request_message_id AS "messageId" FROM exchange WHERE correlation_id = :correlationId',
      { correlationId },
    );
    const asked = { ...one, correlationId, messageId: row?.messageId ?? '' };
    await app.publish(asked.messageId);
    await overdue(asked);
    expect((await told(one)).filter(({ data }) => 'cancellation' in data)).toMatchObject([
      { kind: 'order-overdue', data: { cancellation: true } },
    ]);
  });
});
