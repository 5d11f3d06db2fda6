import 'reflect-metadata';
import { kindOf } from '../../../src/notifications/kinds/catalogue';
import { accepted, type CoreStage, NOW, openCore } from './core-stage';

describe('what is raised', () => {
  let core: CoreStage;
  const to = { channel: 'email', address: 'mara@example.com' } as const;

  beforeAll(async () => {
    core = await openCore();
  });
  afterAll(() => core.close());
  afterEach(() => core.database.transaction((tx) => tx.query('DELETE FROM notification')));

  it('is due at once by the clock of the database, also where that of its host is ahead', async () => {
    const ahead = new Date(Date.now() + 3_600_000);
    await core.database.transaction((tx) => core.notifications.raise(tx, [{ ...accepted(1), to, at: ahead }], ahead));
    const due = `SELECT 1 FROM notification WHERE next_attempt_at <= clock_timestamp() + interval '1 millisecond'`;
    expect(await core.rows(due)).toHaveLength(1);
  });

  it('is as urgent as its kind says', async () => {
    for (const kind of ['confirmation-code', 'order-overdue', 'announcement'])
      await core.raise({ id: kind, kind, at: NOW, data: kindOf(kind)?.example ?? {}, to });
    expect(await core.rows('SELECT kind, urgency FROM notification ORDER BY urgency')).toEqual([
      { kind: 'confirmation-code', urgency: 0 },
      { kind: 'order-overdue', urgency: 1 },
      { kind: 'announcement', urgency: 2 },
    ]);
  });
});
