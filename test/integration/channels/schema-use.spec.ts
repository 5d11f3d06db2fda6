import { pino } from 'pino';
import { DataSource } from 'typeorm';
import { addChannels, ChannelCatalog, SchemaUse } from '../../../src/messaging/channels';
import { Database, query, type Tx } from '../../../src/platform/database';
import { eventually } from '../../support/eventually';
import { freshDatabase } from '../../support/database';

const TYPE = 'parley.order-response.v1';
const START = Date.parse('2026-03-01T00:00:00.000Z');

describe('which schemas partners use', () => {
  let database: Database;
  let channelId: number;
  let now = START;
  const clock = { now: () => new Date(now) };

  beforeAll(async () => {
    const url = await freshDatabase();
    database = new Database(await new DataSource({ type: 'postgres', url, installExtensions: false }).initialize());
    await database.transaction(async (tx) => {
      await query(tx, `INSERT INTO partner (id, name, created_at) VALUES ('acme', 'Acme', now())`);
      const channel = { partner: 'acme', direction: 'in', format: 'avro', partitions: 1 } as const;
      const topic = 'orders.acme.response.v1';
      await addChannels(tx, [{ ...channel, topic, maxMessageBytes: 1_048_588, allowMissingId: false }], clock.now());
    });
    const channels = new ChannelCatalog(database);
    await channels.load();
    channelId = channels.all()[0]?.id as number;
  });
  beforeEach(() => database.transaction((tx) => query(tx, 'TRUNCATE channel_schema')));
  afterAll(() => database.dataSource.destroy());

  /** Counts its transactions, and fails them on demand. */
  class Watched extends Database {
    count = 0;
    broken = false;
    override transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
      this.count++;
      return this.broken ? Promise.reject(new Error('no disk')) : super.transaction(work);
    }
  }

  function made() {
    const lines: { msg: string }[] = [];
    const log = pino(
      { level: 'warn' },
      { write: (line: string) => void lines.push(JSON.parse(line) as { msg: string }) },
    );
    const watched = new Watched(database.dataSource);
    return { use: new SchemaUse(watched, clock, log), watched, lines };
  }
  const listed = (count: number) =>
    eventually(async () => {
      const uses = await SchemaUse.list(database);
      return uses.length === count ? uses : undefined;
    });

  it('are kept by channel, document and id', async () => {
    const { use } = made();
    use.note(channelId, TYPE, 7);
    use.note(channelId, TYPE, 8);
    use.note(channelId, 'parley.despatch-advice.v1', 7);
    expect(await listed(3)).toMatchObject([
      { partner: 'acme', topic: 'orders.acme.response.v1', type: 'parley.despatch-advice.v1', schemaId: 7 },
      { type: TYPE, schemaId: 7, firstSeenAt: clock.now(), lastSeenAt: clock.now() },
      { type: TYPE, schemaId: 8 },
    ]);
  });

  it('cost a statement a minute at most, however many records name one', async () => {
    const { use, watched } = made();
    for (let n = 0; n < 1000; n++) use.note(channelId, TYPE, 7);
    await listed(1);
    now += 59_999;
    use.note(channelId, TYPE, 7);
    expect(watched.count).toBe(1);
    now += 1;
    use.note(channelId, TYPE, 7);
    const latest = await eventually(async () => {
      const [one] = await SchemaUse.list(database);
      return one && one.lastSeenAt.getTime() === now ? one : undefined;
    });
    expect(watched.count).toBe(2);
    expect(latest.firstSeenAt.getTime()).toBe(now - 60_000);
  });

  it('never go back in time, whoever writes last', async () => {
    const [early, late] = [made(), made()];
    now += 120_000;
    late.use.note(channelId, TYPE, 7);
    await listed(1);
    const latest = now;
    now -= 60_000;
    early.use.note(channelId, TYPE, 7);
    early.use.note(channelId, TYPE, 8);
    const uses = await listed(2);
    expect(uses[0]?.lastSeenAt.getTime()).toBe(latest);
    now = latest;
  });

  it('are written when a write hung so long that the same use was noted again behind it', async () => {
    const { use, lines } = made();
    for (let minute = 0; minute < 3; minute++, now += 60_000) use.note(channelId, TYPE, 7);
    now -= 60_000;
    await eventually(async () => (await SchemaUse.list(database))[0]?.lastSeenAt.getTime() === now);
    expect(lines).toEqual([]);
  });

  it('harm nothing where they can not be written, are said once, and are written with the next minute', async () => {
    const { use, watched, lines } = made();
    watched.broken = true;
    for (let minute = 0; minute < 3; minute++, now += 60_000) {
      use.note(channelId, TYPE, 7);
      await eventually(() => watched.count === minute + 1);
    }
    await eventually(() => lines.length > 0);
    expect(lines).toMatchObject([{ msg: 'schema ids in use could not be noted', reason: 'no disk' }]);
    watched.broken = false;
    use.note(channelId, TYPE, 7);
    expect(await listed(1)).toHaveLength(1);
  });
});
