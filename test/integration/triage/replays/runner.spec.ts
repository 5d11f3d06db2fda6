import { pino } from 'pino';
import { DataSource } from 'typeorm';
import { StaffDesk } from '../../../../src/messaging/consumer';
import { Releaser } from '../../../../src/messaging/triage/replays/releaser';
import { ReleaseStep } from '../../../../src/messaging/triage/replays/release-step';
import { ReplayRunner } from '../../../../src/messaging/triage/replays/replay-runner';
import { systemClock } from '../../../../src/platform/clock';
import { Database } from '../../../../src/platform/database';
import { eventually } from '../../../support/eventually';
import { addPartner, CONSUMER, openWorld, park, planOf, releasedIds, replayRoom, startOf } from './harness';

it('the runner says nothing before the database is there, and one line while replays really stand still', async () => {
  const world = await openWorld();
  await addPartner(world, 'acme');
  const room = replayRoom(world);
  const started = async () => {
    const ids = await park(world, 'acme', { count: 2 });
    const { id } = await planOf(room, { ids });
    await startOf(room, id);
    return { id, ids };
  };
  const first = await started();
  const lines: unknown[] = [];
  const log = pino({ level: 'info' }, { write: (line) => lines.push((JSON.parse(line) as { msg: string }).msg) });
  // As at the start of a process: the pool is opened later.
  const dataSource = new DataSource(world.dataSource.options);
  const database = new Database(dataSource);
  const step = new ReleaseStep(database, new Releaser(new StaffDesk()));
  const runner = new ReplayRunner(database, step, CONSUMER, systemClock, log);
  const rename = (from: string, to: string) => world.dataSource.query(`ALTER TABLE ${from} RENAME TO ${to}`);
  try {
    runner.onApplicationBootstrap();
    await world.database.query('SELECT 1');
    await dataSource.initialize();
    await eventually(async () => (await releasedIds(world, first.id)).length === 2);
    expect(lines).toEqual([]);
    await rename('replay', 'replay_away');
    await eventually(() => lines.length > 0);
    await rename('replay_away', 'replay');
    const second = await started();
    await eventually(async () => (await releasedIds(world, second.id)).length === 2);
    // Said behind the step that released them.
    await eventually(() => lines.length > 1);
    expect(lines).toEqual(['replays stand still; tried again', 'replays go on']);
  } finally {
    await runner.beforeApplicationShutdown();
    if (dataSource.isInitialized) await dataSource.destroy();
    await world.close();
  }
});
