import { pino } from 'pino';
import { migrateDatabase } from '../../support/database';
import { eventually } from '../../support/eventually';
import { kill, ownPostgres } from '../../support/faults';
import { type Asked, type DeadlinesApp, HOUR, startDeadlines } from './deadlines-app';

describe('deadlines whose database is killed', () => {
  let app: DeadlinesApp;
  let postgres: Awaited<ReturnType<typeof ownPostgres>>;

  beforeAll(async () => {
    postgres = await ownPostgres();
    await postgres.createDatabase('parley');
    await migrateDatabase(postgres.url('parley'));
    app = await startDeadlines({ databaseUrl: postgres.url('parley') });
  });
  afterAll(() => app.close());

  const sentAgain = (one: Asked) =>
    eventually(
      async () => {
        // The pass that was underway while it was put back calls all judged where it lies now.
        await app.database.query('UPDATE reply_watch SET judged_up_to = NULL');
        return (await app.ledger(one)).resends === 1;
      },
      { interval: 250, what: 'it is sent again' },
    );

  it('are watched again by the same watcher when it is back, and each is dealt with once', async () => {
    const lines: { msg: string }[] = [];
    const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line) as { msg: string }) });
    const said = (text: string) => lines.filter(({ msg }) => msg.includes(text)).length;
    const stopping = new AbortController();
    const watcher = app.watcher({ logger });
    const watching = watcher.run(stopping.signal, 50);
    try {
      const [before, after] = [await app.asked(), await app.asked()];
      await app.age(before, 2 * HOUR);
      await sentAgain(before);
      const heal = await kill(postgres);
      await eventually(() => said('deadlines can not be judged now') === 1, { what: 'it is said' });
      expect(watcher.trouble).toContain('nothing is called overdue');
      await heal();
      await eventually(() => app.age(after, 2 * HOUR).then(() => true), { what: 'the database is back' });
      await sentAgain(after);
      await eventually(() => said('deadlines are judged again') === 1, { what: 'it is said, too' });
      expect(watcher.trouble).toBeUndefined();
      expect(said('deadlines can not be judged now')).toBe(1);
      const rows = await app.database.query<{ n: number }>(
        'SELECT count(*)::int AS n FROM outbox_message GROUP BY id ORDER BY 1',
      );
      expect(rows.map(({ n }) => n)).toEqual([2, 2]);
    } finally {
      stopping.abort();
      await watching;
    }
  });
});
