import type { AnyContract } from '../../../../src/contracts';
import type { Drain } from '../../../../src/messaging/consumer/drain/drain';
import { RegistryUnavailable } from '../../../../src/messaging/registry';
import { Database, query, type Tx } from '../../../../src/platform/database';
import { uniqueName } from '../../../support/kafka';
import { type Decide, openWorld, type World } from '../harness';
import { drainOf, laterBy, passUntilIdle } from './drain-harness';
import type { Random } from './seeded';

/** Clocks of processes run ahead of the test's by up to so much. */
const SKEW_MS = 10_000;
/** To this clock every turn that the others remembered, and did not give, is late, and all that they put off (by 10 s at most) is due. */
const LATE_MS = 40_000;

/** The drains of a round. What they do with each other is drawn before they begin, so that a seed plays the same. */
export class Drains {
  constructor(
    private readonly world: World,
    private readonly random: Random,
    private readonly contracts: readonly AnyContract[],
    private readonly decide: Decide,
  ) {}

  /**
   * Up to three side by side, whose clocks differ by seconds; some stall behind having found what is due, some lose the registry on their way. Now and then one is cut off from
   * the database somewhere before, and others go on. The last one leaves nothing.
   */
  async all(meanwhile: () => Promise<void>): Promise<void> {
    while (this.random.below(4) === 0) await this.brokenOff();
    const drains = Array.from({ length: 1 + this.random.below(3) }, () => this.any());
    await Promise.all([...drains.map(passUntilIdle), meanwhile()]);
    await passUntilIdle(this.drain({ clock: laterBy(LATE_MS) }));
  }

  private any(): Drain {
    return this.drain({
      world: this.random.below(3) === 0 ? this.stalling() : this.world,
      decide: this.random.below(3) === 0 ? this.withoutRegistry() : this.decide,
    });
  }

  private drain({ world = this.world, decide = this.decide, clock = laterBy(this.random.below(SKEW_MS)) } = {}): Drain {
    return drainOf(world, decide, { contracts: this.contracts, clock });
  }

  /** Another drain does all it can between what this one finds due and what it reads of that. */
  private stalling(): World {
    const other = this.drain();
    let reads = 1 + this.random.below(5);
    const database = new Database(this.world.dataSource);
    database.query = async (text, values) => {
      if (text.includes('raw_value AS "rawValue"') && --reads === 0) await passUntilIdle(other);
      return this.world.database.query(text, values);
    };
    return { ...this.world, database };
  }

  /** The registry is away once: what is in hand then is put off, and no attempt is counted. */
  private withoutRegistry(): Decide {
    let left = 1 + this.random.below(400);
    return (message) => {
      if (--left === 0) throw new RegistryUnavailable('by plan');
      return this.decide(message);
    };
  }

  private async brokenOff(): Promise<void> {
    const own = await openWorld(this.world.url, 15_000, uniqueName('cut'));
    await own.channels.load();
    let left = 1 + this.random.below(400);
    const decide: Decide = async (message) => {
      if (--left === 0) await cutOff(this.world.database, own);
      return this.decide(message);
    };
    const { database } = own;
    const transaction = database.transaction.bind(database);
    // Not only in a handler: also between a transaction and the next.
    const until = this.random.below(30);
    let begun = 0;
    database.transaction = async <T>(work: (tx: Tx) => Promise<T>): Promise<T> => {
      if (begun++ === until) await cutOff(this.world.database, own);
      return transaction(work);
    };
    await passUntilIdle(this.drain({ world: own, decide })).catch(() => undefined);
    await own.close();
  }
}

/** Ends every connection of this world, as a crash or a lost network does. */
async function cutOff(database: Database, world: World): Promise<void> {
  const { applicationName } = world.dataSource.options as { applicationName: string };
  await database.transaction((tx) =>
    query(tx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = :applicationName`, {
      applicationName,
    }),
  );
}
