import 'reflect-metadata';
import type { Seen } from '../../../src/notifications/desk/notification-desk';
import { resendId } from '../../../src/notifications/raising/notification-id';
import { resendsOf, type StoredNotification } from '../../../src/notifications/reading/stored-notification';
import { Claims } from '../../../src/notifications/sending/claims';
import { accepted, type CoreStage, message, minutes, NOW, openCore } from './core-stage';

type Verb = 'cancel' | 'resend' | 'delivered' | 'not-delivered';
const STATES = ['pending', 'sending', 'sent', 'failed', 'unknown', 'cancelled', 'expired'] as const;

describe('what staff do about a notification', () => {
  let core: CoreStage;

  beforeAll(async () => {
    core = await openCore();
  });
  afterAll(() => core.close());
  beforeEach(async () => {
    await change('DELETE FROM notification; DELETE FROM notification_receiver; DELETE FROM notification_bad_address');
    await core.put({
      id: 'desk',
      email: 'desk@example.com',
      subscriptions: [{ kind: 'order-accepted', channels: ['email'], partners: null }],
    });
  });

  const change = (sql: string) => core.database.transaction((tx) => tx.query(sql));
  const act = (verb: Verb, seen: Seen, now = NOW): Promise<StoredNotification> =>
    core.database.transaction((tx) =>
      verb === 'cancel' || verb === 'resend' ? core.desk[verb](tx, seen, now) : core.desk.resolve(tx, seen, verb, now),
    );
  const all = async () => (await core.list.page({}, null, 100)).items;
  /** One in that state, seen as it is. */
  const inState = async (state: string, sql = ''): Promise<Seen> => {
    await core.raise(accepted(1));
    await change(`UPDATE notification SET state = '${state}'${sql}`);
    const [found] = await all();
    return { id: found?.id ?? '', version: found?.version ?? 0, scope: null };
  };

  it.each(
    STATES.flatMap((state) =>
      (['cancel', 'resend', 'delivered', 'not-delivered'] as const).map((verb) => ({
        state,
        verb,
        possible:
          verb === 'cancel'
            ? state === 'pending'
            : verb === 'resend'
              ? !['pending', 'sending'].includes(state)
              : state === 'unknown',
      })),
    ),
  )('$verb of one that is $state is possible: $possible', async ({ state, verb, possible }) => {
    const seen = await inState(state);
    const before = await all();
    if (possible) return void (await expect(act(verb, seen)).resolves.toMatchObject({ partner: 'acme' }));
    await expect(act(verb, seen)).rejects.toMatchObject({ code: 'notification-state', retriable: false });
    expect(await all()).toEqual(before);
  });

  it('ends it with its time, its reason and a version of its own', async () => {
    const pending = await inState('pending');
    expect(await act('cancel', pending, minutes(1))).toMatchObject({
      ...{ state: 'cancelled', settledAt: minutes(1), code: 'cancelled-by-staff', detail: 'Staff cancelled it.' },
      version: pending.version + 1,
    });
    await change('DELETE FROM notification');
    const doubtful = await inState('pending', ', doubtful = true');
    expect(await act('cancel', doubtful)).toMatchObject({
      detail: 'Staff cancelled it. Its last attempt may have gone out.',
    });
  });

  it.each([
    ['delivered', 'sent'],
    ['not-delivered', 'failed'],
  ] as const)('says %s of one that is unknown: it is %s', async (outcome, state) => {
    const seen = await inState('unknown', ', doubtful = true');
    expect(await act(outcome, seen, minutes(1))).toMatchObject({
      ...{ state, settledAt: minutes(1), code: `resolved-${outcome}`, doubtful: false, version: seen.version + 1 },
    });
  });

  it('sends it again as a new one, to where its receiver is now, with the time of its kind', async () => {
    const seen = await inState(
      'failed',
      `, attempts = 8, settled_at = now(), code = 'x', content = '{"channel":"sms","text":"old"}'`,
    );
    await core.put({ id: 'desk', email: 'new@example.com', subscriptions: [] });
    await change(`INSERT INTO notification_bad_address VALUES ('email', 'new@example.com', 'x', 'x', now())`);
    const made = await act('resend', seen, minutes(90));
    const old = await core.list.find(seen.id, null);
    expect(old).toMatchObject({ state: 'failed', resends: 1, version: seen.version + 1 });
    expect(resendsOf({ id: seen.id, resends: 1 })).toEqual([made.id]);
    expect(made).toMatchObject({
      ...{
        id: resendId(seen.id, 1),
        resendOf: seen.id,
        eventId: old?.eventId,
        kind: 'order-accepted',
        channel: 'email',
      },
      ...{ provider: 'email', receiver: 'desk', address: 'new@example.com', partner: 'acme', orderNumber: 'PO-1' },
      ...{
        data: old?.data,
        state: 'pending',
        attempts: 0,
        firstBegunAt: null,
        doubtful: false,
        code: null,
        version: 1,
      },
      ...{ happenedAt: NOW, createdAt: minutes(90), nextAttemptAt: minutes(90), expiresAt: minutes(90 + 72 * 60) },
    });
    expect((await core.list.find(made.id, null))?.content).toBeNull();
    expect(await core.rows('SELECT 1 FROM notification_bad_address')).toEqual([]);
    const next = await act('resend', { ...seen, version: seen.version + 1 }, minutes(91));
    expect(next.id).toBe(resendId(seen.id, 2));
    expect(await core.list.find(seen.id, null)).toMatchObject({ resends: 2 });
    // The event that made it makes nothing new.
    expect(await core.raise(accepted(1))).toBe(0);
  });

  it('lets a new one wait for quiet hours, too', async () => {
    const seen = await inState('sent');
    const quietHours = { from: '11:30', to: '12:30', timeZone: 'Europe/Berlin' };
    await core.put({ id: 'desk', email: 'desk@example.com', quietHours });
    expect(await act('resend', seen)).toMatchObject({ nextAttemptAt: minutes(30) });
  });

  it('sends again what was asked for, to the address that was named', async () => {
    await core.raise(message('a', 'aa'));
    await change(`UPDATE notification SET state = 'expired'`);
    const [found] = await all();
    const made = await act('resend', { id: found?.id ?? '', version: 1, scope: null });
    expect(made).toMatchObject({ receiver: null, address: 'mara@example.com', data: { title: 'Invoice' } });
    // Its id is still the one that was asked for.
    expect(
      await core.database.transaction((tx) =>
        core.notifications.request(tx, [message('a', 'aa'), message('a', 'bb')], NOW),
      ),
    ).toEqual([{ outcome: 'known' }, { outcome: 'reused' }]);
  });

  it('sends nothing again whose receiver is gone or no longer reached so, or whose words are gone', async () => {
    const seen = await inState('failed');
    await core.put({ id: 'desk', phone: '+4930123456' });
    await expect(act('resend', seen)).rejects.toMatchObject({ code: 'receiver-unreachable' });
    await change('DELETE FROM notification_receiver');
    await expect(act('resend', seen)).rejects.toMatchObject({ code: 'receiver-unknown' });
    await change('DELETE FROM notification');
    await core.raise(message('c', 'cc', { kind: 'confirmation-code', data: { code: '493 817' } }));
    await change(`UPDATE notification SET state = 'sent'`);
    const [secret] = await all();
    expect(secret?.data).toEqual({});
    await expect(act('resend', { id: secret?.id ?? '', version: 1, scope: null })).rejects.toMatchObject({
      code: 'notification-secret',
    });
  });

  it('is refused to who has not seen the last version, and unknown to who may not see its partner', async () => {
    const seen = await inState('unknown');
    for (const verb of ['cancel', 'resend', 'delivered'] as const) {
      await expect(act(verb, { ...seen, version: seen.version + 1 })).rejects.toMatchObject({ code: 'version-stale' });
      await expect(act(verb, { ...seen, scope: ['umbra'] })).rejects.toMatchObject({ code: 'notification-unknown' });
      await expect(act(verb, { ...seen, id: 'nonsense' })).rejects.toMatchObject({ code: 'notification-unknown' });
      await expect(act(verb, { ...seen, id: resendId(seen.id, 9) })).rejects.toMatchObject({
        code: 'notification-unknown',
      });
    }
    await expect(act('resend', { ...seen, scope: ['acme'] })).resolves.toMatchObject({ partner: 'acme' });
  });

  describe('at the same time as somebody else', () => {
    /** Both wait for the row, then one goes after the other. */
    const together = async (seen: Seen, first: Verb, second: Verb) => {
      const letGo = await core.hold(`SELECT 1 FROM notification WHERE id = '${seen.id}' FOR UPDATE`);
      const both = Promise.allSettled([act(first, seen), act(second, seen)]);
      await core.blocked(2);
      await letGo();
      return both;
    };
    const claim = () =>
      new Claims(core.database).claim({
        ...{ provider: 'email', slots: 10, perSecond: 1000, leaseMs: 60_000, kinds: ['order-accepted'] },
      });

    it.each([
      ['delivered', 'not-delivered', 'unknown'],
      ['resend', 'resend', 'failed'],
      ['cancel', 'cancel', 'pending'],
      ['resend', 'delivered', 'unknown'],
    ] as const)('is done once: %s and %s of one that is %s', async (first, second, state) => {
      const results = await together(await inState(state), first, second);
      expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      expect(results.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'version-stale' } });
      // Each change of it counts, and what is sent in its place has none.
      expect((await all()).reduce((changes, { version }) => changes + version - 1, 0)).toBe(1);
    });

    it('waits for a notifier that claims it, and then says that it is being sent', async () => {
      const seen = await inState('pending', ', next_attempt_at = now()');
      // The claim has the row when it comes to the provider's.
      const letGo = await core.hold(
        `UPDATE notification SET state = 'sending', claim = gen_random_uuid(), lease_until = now() + interval '1 min', version = version + 1 WHERE id = '${seen.id}'`,
      );
      const cancelling = act('cancel', seen);
      const refused = expect(cancelling).rejects.toMatchObject({ code: 'version-stale' });
      await core.blocked(1);
      await letGo();
      await refused;
      await expect(act('cancel', { ...seen, version: seen.version + 1 })).rejects.toMatchObject({
        code: 'notification-state',
        message: 'It is being sent just now, and nobody can call it back: look again in a minute.',
      });
    });

    it('is passed over by a notifier while it is being cancelled, and gone for it afterwards', async () => {
      const seen = await inState('pending', ', next_attempt_at = now()');
      await core.database.transaction(async (tx) => {
        await core.desk.cancel(tx, seen, NOW);
        expect((await claim())?.claimed).toEqual([]);
      });
      expect((await claim())?.claimed).toEqual([]);
      expect(await all()).toMatchObject([{ state: 'cancelled' }]);
    });
  });
});
