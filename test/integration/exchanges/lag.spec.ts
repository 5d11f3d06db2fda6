import { orderResponse, toHeaders, typeOf } from '../../../src/contracts';
import { ReplyWatch } from '../../../src/messaging/exchanges';
import { createKafkaAdmin } from '../../../src/messaging/kafka';
import { AppError } from '../../../src/platform/errors';
import { eventually } from '../../support/eventually';
import { createTopic, produce, type RecordToProduce, uniqueName } from '../../support/kafka';
import { closeAll, committed, Listener, settingsFor, startSource } from '../kafka/fixtures';
import { type Asked, type DeadlinesApp, HOUR, startDeadlines } from './deadlines-app';

const ORDERS = 60;

describe('deadlines while our consumer lags', () => {
  let app: DeadlinesApp;

  beforeAll(async () => {
    app = await startDeadlines();
  });
  afterEach(closeAll);
  afterAll(() => app.close());

  const answerOf = ({ orderNumber, correlationId }: Asked): RecordToProduce => {
    const time = new Date().toISOString();
    return {
      key: orderNumber,
      value: JSON.stringify({ orderNumber, responseCode: 'AP', issuedAt: time }),
      headers: toHeaders({ id: uniqueName('m'), source: '/partner', type: typeOf(orderResponse), time, correlationId }),
    };
  };
  /** Reads and applies what is in the topic, until stopped. */
  const consume = () => {
    const listener = new Listener();
    listener.handle = (batch) => app.consumer.process(batch);
    return startSource({ topics: [app.topic], group: app.group }, listener).source;
  };
  const states = async () => {
    const rows = await app.database.query<{ state: string; n: number }>(
      `SELECT state, count(*)::int AS n FROM exchange WHERE partner = :partner GROUP BY state ORDER BY state`,
      { partner: app.partner },
    );
    return Object.fromEntries(rows.map(({ state, n }) => [state, n]));
  };

  it('make no wave: nothing is sent again or overdue until what had come in time is read, and then only what had not', async () => {
    const watcher = app.watcher();
    // A group that has read before, and was stopped.
    const first = await app.asked();
    await produce(app.topic, [answerOf(first)]);
    const before = consume();
    await eventually(async () => (await app.ledger(first)).state === 'answered');
    await before.close();
    await eventually(async () => (await watcher.pass()) && (await mark()) !== null);

    const many: Asked[] = [];
    for (let n = 0; n < ORDERS; n++) many.push(await app.asked());
    const silent = await app.asked();
    await produce(app.topic, many.map(answerOf));
    // All this was two hours ago; in between nobody has read.
    for (const one of [...many, silent]) await app.age(one, 2 * HOUR);
    await app.database.transaction((tx) => tx.query(`UPDATE reply_watch SET read_up_to = now() - interval '2 hours'`));
    for (let pass = 0; pass < 3; pass++) expect(await watcher.pass()).toEqual({ resent: 0, overdue: 0 });
    expect(await app.watcher().pass()).toEqual({ resent: 0, overdue: 0 });
    expect(await states()).toEqual({ answered: 1, awaiting: ORDERS + 1 });
    expect((await app.story(many[0] as Asked)).at(-1)?.['text']).toContain('the answer topic has only been read up to');

    const again = consume();
    const passes = { resent: 0, overdue: 0 };
    await eventually(
      async () => {
        const pass = await watcher.pass();
        passes.resent += pass.resent;
        passes.overdue += pass.overdue;
        return passes.resent > 0;
      },
      { what: 'the silent one is sent again' },
    );
    expect(await states()).toEqual({ answered: ORDERS + 1, awaiting: 1 });
    expect(passes).toEqual({ resent: 1, overdue: 0 });
    expect(await app.ledger(silent)).toMatchObject({ state: 'awaiting', resends: 1 });
    await again.close();
  });

  it('call no answer late that was written in time and read afterwards', async () => {
    const one = await app.asked();
    await produce(app.topic, [answerOf(one)]);
    await app.database.transaction((tx) =>
      tx.query(`UPDATE exchange SET deadline = clock_timestamp() + interval '10 ms' WHERE correlation_id = $1`, [
        one.correlationId,
      ]),
    );
    await eventually(async () => (await app.ledger(one)).deadline < new Date());
    const source = consume();
    await eventually(async () => (await app.ledger(one)).state === 'answered');
    expect((await app.story(one)).at(-1)?.['text']).toBe(`${app.partner} accepted the order.`);
    await source.close();
  });

  it('are judged from the answers in every partition, also where one has never had a record', async () => {
    const one = await app.asked();
    await app.age(one, 2 * HOUR);
    const source = consume();
    await eventually(async () => (await app.watcher().pass()).resent === 1, { what: 'it is judged' });
    await source.close();
    const ends = await Promise.all([0, 1, 2, 3].map((partition) => committed(app.group, app.topic, partition)));
    expect(ends.filter((end) => end >= 0n).length).toBeGreaterThan(0);
  });

  it('are judged no further than a machine has read whose clock runs ahead', async () => {
    const [first, second] = [await app.asked(), await app.asked()];
    await produce(app.topic, [answerOf(first)]);
    const watcher = app.watcher({ clock: { now: () => new Date(Date.now() + HOUR) } });
    await watcher.pass();
    const source = consume();
    await eventually(async () => (await app.ledger(first)).state === 'answered');
    await source.close();
    const before = new Date();
    await produce(app.topic, [answerOf(second)]);
    await watcher.pass();
    expect((await mark())?.getTime()).toBeLessThanOrEqual(before.getTime());
  });

  it('are judged though nobody can say how far the topic of another partner has been read', async () => {
    const other = await createTopic(uniqueName('broken'), { partitions: 1, exact: true });
    const admin = createKafkaAdmin(settingsFor());
    const broken = {
      groupProgress: (group: string, topics: readonly string[]) =>
        topics.includes(other)
          ? Promise.reject(new AppError('broker-refused', 'no leader'))
          : admin.groupProgress(group, topics),
    };
    try {
      const watch = new ReplyWatch(app.database, broken, uniqueName('group'));
      const topic = await createTopic(uniqueName('sound'), { partitions: 2, exact: true });
      const marks = await watch.look([other, topic], new Date());
      expect(marks).toMatchObject([{ topic, readUpTo: expect.any(Date) as Date }]);
      await expect(watch.look([other], new Date())).rejects.toThrow('no leader');
    } finally {
      await admin.close();
    }
  });

  const mark = async () => {
    const [row] = await app.database.query<{ readUpTo: Date | null }>(
      'SELECT read_up_to AS "readUpTo" FROM reply_watch WHERE topic = :topic',
      { topic: app.topic },
    );
    return row?.readUpTo ?? null;
  };
});
