import { Retention } from '../../../src/messaging/consumer/protection/retention';
import { SWEEP } from '../../../src/messaging/consumer/protection/sweeping';
import type { TopicDescription } from '../../../src/messaging/kafka';
import { uniqueName } from '../../support/kafka';
import { recordingLogger } from '../kafka/fixtures';
import { addPartner, appliedSteps, inboxCount, openWorld, parkedRows, run, Tape, type World } from './harness';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
let world: World;
beforeAll(async () => (world = await openWorld()));
afterAll(() => world.close());

/** Retention of 30 days for ids and 90 for resolved messages, over topics that keep what they are said to. */
function retention(keeps: Record<string, number | undefined>, at = Date.now()) {
  const { logger, lines } = recordingLogger();
  const describeTopics = (names: readonly string[]) =>
    Promise.resolve(
      new Map(
        names
          .filter((topic) => topic in keeps)
          .map((topic): [string, TopicDescription] => [
            topic,
            { topic, partitions: 1, replicas: 1, maxMessageBytes: 1, keepsMs: keeps[topic], retentionMs: keeps[topic] },
          ]),
      ),
    );
  const times = { inboxMs: 30 * DAY, resolvedMs: 90 * DAY };
  const subject = new Retention(
    world.database,
    world.channels,
    { describeTopics },
    times,
    { now: () => new Date(at) },
    logger,
  );
  return { subject, lines };
}

const age = (topic: string, days: number) =>
  world.database.query(
    `UPDATE inbox SET received_at = now() - :days * interval '1 day' WHERE channel_id = (SELECT id FROM channel WHERE topic = :topic)`,
    { topic, days },
  );

async function partner(): Promise<{ partner: string; topic: string; tape: Tape }> {
  const name = uniqueName('p');
  const topic = await addPartner(world, name);
  return { partner: name, topic, tape: new Tape(topic) };
}

describe('ids of records', () => {
  it('are remembered for days, so that a repeat is still one, and forgotten behind their time', async () => {
    const { partner: name, topic, tape } = await partner();
    const records = tape.records(20, (index) => ({ key: `k${index}` }));
    await run(world, records);
    await age(topic, 29);
    const { subject } = retention({ [topic]: 7 * DAY });
    expect((await subject.pass()).ids).toBe(0);
    await run(world, records);
    expect((await appliedSteps(world, name)).length).toBe(20);
    await age(topic, 31);
    expect((await subject.pass()).ids).toBe(20);
    expect(await inboxCount(world, topic)).toBe(0);
  });

  it('stay as long as their message is parked, whatever has become of it, and as long as its edits', async () => {
    const { partner: name, topic, tape } = await partner();
    await run(
      world,
      tape.records(4, (index) => ({ key: `k${index}`, value: Buffer.from([0xff]) })),
    );
    await world.database.query(
      `UPDATE parked_inbound SET state = CASE key WHEN 'k1' THEN 'processed' WHEN 'k2' THEN 'discarded' WHEN 'k3' THEN 'waiting' ELSE state END,
         resolved_at = CASE WHEN key IN ('k1', 'k2') THEN now() END WHERE partner = :name`,
      { name },
    );
    const editId = '0190a5a0-0000-8000-8000-000000000001';
    await world.database.query(
      `INSERT INTO parked_edit (parked_id, message_id, document, diff, reason, state, made_by, made_at)
       SELECT id, :editId, '{}', '[]', 'r', 'approved', 'kate', now() FROM parked_inbound WHERE partner = :name AND key = 'k0'`,
      { name, editId },
    );
    await world.database.query(
      `INSERT INTO inbox (channel_id, message_id, hash, partition, "offset", received_at)
       SELECT channel_id, m, hash, partition, "offset", received_at FROM inbox, unnest(ARRAY[:editId, 'another-id']) m
       WHERE channel_id = (SELECT id FROM channel WHERE topic = :topic) AND "offset" = 0`,
      { topic, editId },
    );
    await age(topic, 4_000);
    await retention({ [topic]: HOUR }).subject.pass();
    expect(await inboxCount(world, topic)).toBe(5);
  });

  it('of a topic that keeps records longer are not forgotten, and that is said', async () => {
    const parts = await Promise.all([partner(), partner(), partner(), partner()]);
    for (const { tape, topic } of parts) {
      await run(world, [tape.record()]);
      await age(topic, 400);
    }
    const [forEver, long, short, silent] = parts.map(({ topic }) => topic) as [string, string, string, string];
    const { subject, lines } = retention({
      [forEver]: Infinity,
      [long]: 29 * DAY + 1,
      [short]: 29 * DAY,
      [silent]: undefined,
    });
    await subject.pass();
    expect(await Promise.all([forEver, long, short, silent].map((topic) => inboxCount(world, topic)))).toEqual([
      1, 1, 0, 1,
    ]);
    expect(subject.trouble).toContain('keeps records');
    expect(subject.trouble).toContain('INBOX_RETENTION_HOURS');
    expect(lines.filter((line) => line['code'] === 'topic-retention')).toHaveLength(2);
  });

  it('are looked for block by block, at the cost of the blocks', async () => {
    await world.database.query(
      `INSERT INTO inbox SELECT 99, 'plan-' || n, '\\x00', 0, n, now() - interval '1 year' FROM generate_series(1, 30000) n`,
    );
    await world.database.query('ANALYZE inbox');
    const values = { from: '(10,0)', to: '(20,0)', channels: [99], before: new Date() };
    const plan = JSON.stringify(await world.database.query(`EXPLAIN ${SWEEP}`, values));
    expect(plan).toContain('Tid Range Scan on inbox');
    expect(plan).toMatch(/Index (Only )?Scan using \w+ on parked_inbound p/);
    expect(plan).not.toMatch(/Seq Scan on (inbox|parked_inbound)/);
    await world.database.query('DELETE FROM inbox WHERE channel_id = 99');
  });
});

describe('parked messages', () => {
  it('that are resolved go after their time with their edits; unresolved ones stay for years', async () => {
    const { partner: name, topic, tape } = await partner();
    await run(
      world,
      tape.records(5, (index) => ({ key: `k${index}`, value: Buffer.from([0xff]) })),
    );
    await world.database.query(
      `UPDATE parked_inbound SET parked_at = now() - interval '9 years', first_failed_at = now() - interval '9 years', last_failed_at = now() - interval '9 years',
         state = (ARRAY['processed', 'discarded', 'processed', 'dead', 'waiting'])[substr(key, 2)::int + 1],
         resolved_at = (ARRAY[now() - interval '91 days', now() - interval '91 days', now() - interval '89 days'])[substr(key, 2)::int + 1] WHERE partner = :name`,
      { name },
    );
    await world.database.query(
      `INSERT INTO parked_edit (parked_id, message_id, document, diff, reason, state, made_by, made_at)
       SELECT id, gen_random_uuid(), '{}', '[]', 'r', 'approved', 'kate', now() FROM parked_inbound WHERE partner = :name`,
      { name },
    );
    expect(await retention({ [topic]: HOUR }).subject.pass()).toEqual({ ids: 0, messages: 2 });
    expect((await parkedRows(world, name)).map(({ state }) => state)).toEqual(['processed', 'dead', 'waiting']);
    const edits = await world.database.query(
      'SELECT 1 FROM parked_edit JOIN parked_inbound p ON p.id = parked_id WHERE partner = :name',
      { name },
    );
    expect(edits).toHaveLength(3);
  });
});
