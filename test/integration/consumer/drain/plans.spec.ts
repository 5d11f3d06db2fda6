import { randomUUID } from 'node:crypto';
import { StaffDesk } from '../../../../src/messaging/consumer';
import { uniqueName } from '../../../support/kafka';
import { addPartner, appliedSteps, openWorld, run, Tape, type World } from '../harness';
import { drainOf, passUntilIdle } from './drain-harness';

/** Rows of the table that are resolved or dead; a million by hand (PARKED_ROWS=1000000). */
const GROWN = Number(process.env['PARKED_ROWS'] ?? 60_000);
/** So many rows may one round of work look at, however many there are. */
const BOUND = 2_000;

let world: World;
let partner: string;
let tape: Tape;

beforeAll(async () => {
  world = await openWorld(undefined, 60_000);
  partner = uniqueName('p');
  tape = new Tape(await addPartner(world, partner));
  // As on a busy system before autovacuum gets round to it: the table grows under plans that were made while it was small.
  await world.database.query('ALTER TABLE parked_inbound SET (autovacuum_enabled = off)');
});
afterAll(() => world.close());

/** Rows of the table that were read so far, by walking it and by way of each index. */
async function looked(): Promise<Map<string, number>> {
  await world.database.query('SELECT pg_stat_force_next_flush()');
  // The connections' own counts are sent at the end of a transaction, at the latest a second later: each is asked.
  await Promise.all(
    Array.from({ length: 8 }, () => world.database.query('SELECT pg_stat_force_next_flush(), pg_sleep(0.05)')),
  );
  const rows = await world.database.query<{ name: string; read: string }>(
    `SELECT relname AS name, seq_tup_read AS read FROM pg_stat_user_tables WHERE relname = 'parked_inbound'
     UNION ALL SELECT indexrelname, idx_tup_read FROM pg_stat_user_indexes WHERE relname = 'parked_inbound'`,
  );
  return new Map(rows.map(({ name, read }) => [name, Number(read)]));
}

let drawn = 0;

/** A message fails, is dead, is released, held ones follow; another is discarded and restored. */
async function work(): Promise<void> {
  drawn++;
  const key = () => ({ key: `work-${drawn}` });
  const drain = drainOf(world);
  await run(world, tape.records(3, key), () => ({ kind: 'retry', code: 'too-early', detail: '' }));
  await run(world, [tape.record({ key: `dead-${drawn}`, value: 'garbage' }), tape.record({ key: `dead-${drawn}` })]);
  const [dead] = await world.database.query<{ id: string }>(
    'SELECT id FROM parked_inbound ORDER BY id DESC OFFSET 1 LIMIT 1',
  );
  const desk = new StaffDesk();
  const [id, by] = [dead?.id ?? '', { caller: 'key_test', reason: 'r' }];
  await world.database.transaction(async (tx) => {
    await desk.discard(tx, id, 1, by, new Date());
    await desk.restore(tx, id, 2, by, new Date());
    await desk.release(tx, [id], randomUUID(), new Date());
  });
  await world.database.query(
    `UPDATE parked_inbound SET next_attempt_at = now() WHERE partner = :partner AND key = :key AND state = 'waiting'`,
    { partner, key: key().key },
  );
  await passUntilIdle(drain);
}

test('the drain and the desk look at no more rows of a large table than of a small one', async () => {
  // More than five times: from the sixth on PostgreSQL may keep one plan for all values.
  for (let round = 0; round < 8; round++) await work();
  const columns = `partner, key, state, channel_id, inbox_id, topic, partition, "offset", record_time, raw_value, header_names, header_values, parked_at, holds, fingerprint`;
  for (const state of ['processed', 'dead']) {
    await world.database.query(
      `INSERT INTO parked_inbound (${columns})
       SELECT :partner, 'grown-' || n % 1000, :state, c.id, :state || n, topic, 0, n, now(), '\\x00', '{}', '{}', now(), true, 'f' FROM channel c, generate_series(1, ${GROWN}) n
       WHERE c.partner = :partner`,
      { partner, state },
    );
  }
  await world.database.query(
    `INSERT INTO parked_key SELECT c.id, 'grown-' || n, now() FROM channel c, generate_series(0, 999) n WHERE c.partner = :partner`,
    { partner },
  );
  const before = await looked();
  for (let round = 0; round < 3; round++) await work();
  const after = await looked();
  const many = [...after].map(([name, read]) => [name, read - (before.get(name) ?? 0)] as const);
  expect(many.filter(([, read]) => read > BOUND)).toEqual([]);
  expect(await appliedSteps(world, partner)).not.toEqual([]);
});
