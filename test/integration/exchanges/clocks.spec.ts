import { orderRequest } from '../../../src/contracts';
import { Exchanges } from '../../../src/messaging/exchanges';
import { uniqueName } from '../../support/kafka';
import { type DeadlinesApp, HOUR, startDeadlines } from './deadlines-app';

describe('deadlines', () => {
  let app: DeadlinesApp;

  beforeAll(async () => {
    app = await startDeadlines();
  });
  afterAll(() => app.close());

  it('lose nothing to a machine whose clock runs ahead', async () => {
    const clock = { now: () => new Date(Date.now() + 24 * HOUR) };
    await app.watcher({ clock }).pass();
    const one = await app.asked();
    await app.database.transaction((tx) =>
      tx.query(
        `UPDATE exchange SET opened_at = opened_at - interval '1 hour', deadline = now(), look_at = now() WHERE correlation_id = $1`,
        [one.correlationId],
      ),
    );
    await app.database.transaction((tx) => tx.query(`UPDATE outbox_receipt SET sent_at = sent_at - interval '1 hour'`));
    expect(await app.watcher().pass()).toMatchObject({ resent: 1 });
  });

  it('lose nothing to a machine whose clock is behind: its deadlines are not written where all is judged', async () => {
    await app.watcher().pass();
    const [one, correlationId] = [await app.asked(), uniqueName('c')];
    const openedAt = new Date(Date.now() - 3 * HOUR);
    const request = { partner: app.partner, direction: 'out' as const, kind: orderRequest.name, requestSeq: null };
    const deadline = new Date(openedAt.getTime() + HOUR);
    await app.database.transaction((tx) =>
      app.app
        .get(Exchanges)
        .open(tx, [{ ...one, ...request, correlationId, requestMessageId: one.messageId, deadline, openedAt }]),
    );
    const ahead = async () => {
      const [row] = await app.database.query<{ ahead: boolean }>(
        `SELECT look_at > now() + interval '30 seconds' AS ahead FROM exchange WHERE correlation_id = :correlationId`,
        { correlationId },
      );
      return row?.ahead;
    };
    expect(await ahead()).toBe(true);
    const past = { partner: app.partner, direction: 'out' as const, correlationId, messageId: 'm', code: 'AB' };
    const interim = { ...past, state: 'acknowledged' as const, at: openedAt, deadline };
    await app.database.transaction((tx) => app.app.get(Exchanges).answer(tx, [interim]));
    expect(await ahead()).toBe(true);
  });
});
