import { typeOf } from '../../../src/contracts';
import { fingerprintOf } from '../../../src/messaging/consumer/failure';
import { DrainMarks } from '../../../src/messaging/consumer/protection/drain-marks';
import { OneAtATime } from '../../../src/messaging/consumer/protection/one-at-a-time';
import { Presence } from '../../../src/messaging/consumer/protection/presence';
import { systemClock } from '../../../src/platform/clock';
import { eventually } from '../../support/eventually';
import { uniqueName } from '../../support/kafka';
import { createParkedDrain } from '../../../src/messaging/consumer';
import { JsonCodec } from '../../../src/messaging/registry';
import {
  addPartner,
  handler,
  LIMITS,
  logger,
  NOTE,
  openWorld,
  parkedKeys,
  parkedRows,
  run,
  Tape,
  TEST_CONTRACTS,
  type World,
} from './harness';

let world: World;
const presences: Presence[] = [];
beforeAll(async () => (world = await openWorld()));
afterEach(() => Promise.all(presences.splice(0).map((presence) => presence.close())));
afterAll(() => world.close());

/** One process, as far as the marks of its drain go; `die` ends it without a word. */
function startProcess(lived?: () => Promise<void>) {
  const presence = new Presence({ url: () => world.url, connectTimeoutMs: 20_000, name: 'test' }, logger);
  presences.push(presence);
  const suspects = new OneAtATime();
  const marks = new DrainMarks(world.database, presence, suspects, systemClock, lived);
  const die = async () => {
    await presence.close();
    await eventually(
      async () =>
        (
          await world.database.query(`SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = :run`, {
            run: presence.run,
          })
        ).length === 0,
    );
  };
  const marked = () =>
    world.database.query<{ ids: string[] }>('SELECT ids FROM drain_start WHERE run = :run', { run: presence.run });
  return { marks, suspects, die, marked };
}

/** Messages that wait, each under a key of its own; their ids as the drain hands them to its marks. */
async function waiting(count: number): Promise<{ partner: string; sequences: string[][] }> {
  const partner = uniqueName('p');
  const tape = new Tape(await addPartner(world, partner));
  await run(
    world,
    tape.records(count, (index) => ({ key: `k${index}` })),
    () => ({ kind: 'retry', code: 'too-early', detail: 'wait' }),
  );
  await world.database.query(
    `UPDATE parked_inbound SET last_failed_at = now() - interval '1 hour' WHERE partner = :partner`,
    { partner },
  );
  const rows = await world.database.query<{ id: string }>(
    'SELECT id FROM parked_inbound WHERE partner = :partner ORDER BY id',
    { partner },
  );
  return { partner, sequences: rows.map(({ id }) => [id]) };
}

const applied = (ids: readonly string[]) =>
  world.database.query(
    `UPDATE parked_inbound SET state = 'processed', starts = 0, resolved_at = now() WHERE id = ANY(:ids::bigint[])`,
    { ids },
  );

describe('a parked message that ends processes', () => {
  it('is found among those that were tried with it, and is dead after three starts', async () => {
    const { partner, sequences } = await waiting(4);
    const killer = sequences[2]?.[0] ?? '';
    const first = startProcess();
    expect((await first.marks.begin(partner, sequences)).only).toBeUndefined();
    await first.die();
    // The innocent ones before it are tried alone, and are applied.
    const second = startProcess();
    for (const innocent of [0, 1]) {
      const { only, condemned } = await second.marks.begin(partner, sequences.slice(innocent));
      expect([only, condemned.size]).toEqual([0, 0]);
      await applied(sequences[innocent] ?? []);
      await second.marks.end(partner);
    }
    await second.marks.begin(partner, sequences.slice(2));
    await second.die();
    const third = startProcess();
    expect((await third.marks.begin(partner, sequences.slice(2))).condemned.size).toBe(0);
    await third.die();
    const fourth = startProcess();
    const verdict = await fourth.marks.begin(partner, sequences.slice(2));
    expect([...verdict.condemned.keys()]).toEqual([killer]);
    expect(verdict.condemned.get(killer)).toMatchObject({ kind: 'dead', code: 'process-killer', failedIn: 'process' });
    expect(verdict.only).toBe(0);
    // The one behind it was tried once only, with the others.
    const [behind] = await world.database.query('SELECT starts FROM parked_inbound WHERE id = :id', {
      id: sequences[3]?.[0],
    });
    expect(behind).toEqual({ starts: 1 });
  });

  it('holds its key only where its contract says so, and is in the group of its contract', async () => {
    const partner = uniqueName('p');
    const tape = new Tape(await addPartner(world, partner));
    await run(world, [tape.record({ contract: NOTE })], () => ({ kind: 'retry', code: 'too-early', detail: 'wait' }));
    await world.database.query(
      `UPDATE parked_inbound SET starts = 3, next_attempt_at = now() WHERE partner = :partner`,
      {
        partner,
      },
    );
    const { database, channels } = world;
    const drain = createParkedDrain(
      {
        ...{ config: LIMITS, database, channels, codec: new JsonCodec(), logger, contracts: TEST_CONTRACTS },
        guards: { marks: startProcess().marks },
      },
      handler(() => {
        throw new Error('a condemned message is given to no handler');
      }),
    );
    await drain.pass();
    const contract = { code: 'process-killer', type: typeOf(NOTE), pointer: undefined, failedIn: 'process' as const };
    expect(await parkedRows(world, partner)).toMatchObject([
      {
        ...{ state: 'dead', code: 'process-killer', failed_in: 'process', holds: false },
        fingerprint: fingerprintOf({ ...contract, classes: [] }),
      },
    ]);
    expect(await parkedKeys(world, partner)).toEqual([]);
  });

  it('is not one that a living process has in hand, nor one whose outcome was recorded, nor one of a clean end', async () => {
    const { partner, sequences } = await waiting(3);
    const [living, ended, clean] = [startProcess(), startProcess(), startProcess()];
    await living.marks.begin(partner, sequences);
    await ended.marks.begin(partner, sequences);
    await ended.marks.end(partner);
    await ended.die();
    await clean.marks.begin(partner, sequences);
    await clean.marks.leave();
    await clean.die();
    expect(await startProcess().marks.begin(partner, sequences)).toEqual({ condemned: new Map(), only: undefined });
    await world.database.query('UPDATE parked_inbound SET last_failed_at = now() WHERE partner = :partner', {
      partner,
    });
    await living.die();
    expect((await startProcess().marks.begin(partner, sequences)).only).toBeUndefined();
  });

  it('is not one that was suspected and is tried by a process that has only begun: that one may end for reasons of its own', async () => {
    const { partner, sequences } = await waiting(2);
    const dead = startProcess();
    await dead.marks.begin(partner, sequences);
    await dead.die();
    const [asked, lived] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const young = startProcess(() => {
      asked.resolve();
      return lived.promise;
    });
    const begun = young.marks.begin(partner, sequences);
    await Promise.race([asked.promise, begun]);
    expect(await young.marked()).toEqual([]);
    lived.resolve();
    expect((await begun).only).toBe(0);
    expect(await young.marked()).toEqual([{ ids: sequences[0] }]);
    await young.marks.end(partner);
  });

  it('is the only suspect in hand of its process', async () => {
    const [one, two] = [await waiting(1), await waiting(1)];
    const dead = startProcess();
    await dead.marks.begin(one.partner, one.sequences);
    await dead.marks.begin(two.partner, two.sequences);
    await dead.die();
    const { marks, suspects } = startProcess();
    await marks.begin(one.partner, one.sequences);
    let order = '';
    const other = marks.begin(two.partner, two.sequences).then(() => (order += 'other '));
    const reading = suspects.run(() => Promise.resolve((order += 'reading ')));
    await world.database.query('SELECT 1');
    expect(order).toBe('');
    await marks.end(one.partner);
    await other;
    await marks.end(two.partner);
    await reading;
    expect(order).toContain('reading');
  });
});
