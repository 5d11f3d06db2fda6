import { Client } from 'pg';
import { CRASH_POLICIES } from '../../../src/notifications/domain/kind';
import type { Channel } from '../../../src/notifications/domain/notification';
import { migrateDatabase } from '../../support/database';
import { eventually } from '../../support/eventually';
import { hold, ownPostgres } from '../../support/faults';
import { uniqueName } from '../../support/kafka';
import { brokenPromises, type Entry, ledgerOf, tableOf } from './ledger';
import { CrashWorld, type Told } from './world';

/** Where a notification was when its notifier was killed. */
type Moment = 'claimed' | 'begun' | 'accepted';
const CHANNELS = ['sms', 'email', 'webhook'] as const;
/** Of each provider, in one notifier: as many windows a kill, over three policies. */
const CONCURRENCY = 12;
/** SIGKILLs between OK and commit, for each ability; with each, up to CONCURRENCY notifications of each of four providers are in that window. */
const KILLS = Number(process.env['CRASH_KILLS'] ?? 8);

/** What the SMS provider can do about what is in doubt. E-mail and webhooks can do nothing in each of them. */
const PROVIDERS = {
  'remembers our id': { remembersHours: 24 },
  'can be asked': { remembersHours: 0 },
  'remembered it for less than the outage': { remembersHours: 1 },
  'can not be asked': { remembersHours: 0 },
};
type Ability = keyof typeof PROVIDERS;

let server: Awaited<ReturnType<typeof ownPostgres>>;
const worlds: CrashWorld[] = [];
/** Of the whole file: it is printed as one table. */
const ledger: Entry[] = [];

beforeAll(async () => {
  server = await ownPostgres({ durable: false, settings: { max_connections: 400 } });
  await server.createDatabase('template');
  await migrateDatabase(server.url('template'));
});
afterAll(async () => {
  console.info(tableOf('What providers had, by where the notifier was killed', ledger));
  await Promise.all(worlds.map((world) => world.close()));
});

/** Kills notifiers of one world, and keeps away what they had until all are killed. */
class Killing {
  readonly moments = new Map<string, Moment>();
  entries: Entry[] = [];

  private constructor(
    readonly world: CrashWorld,
    private readonly ability: Ability,
  ) {}

  static async open(ability: Ability): Promise<Killing> {
    const name = uniqueName('crash').replace('-', '_');
    const client = new Client({ connectionString: server.url('postgres') });
    await client.connect();
    await client.query(`CREATE DATABASE ${name} TEMPLATE template`).finally(() => client.end());
    const env = {
      NOTIFICATION_CONCURRENCY: String(CONCURRENCY),
      DATABASE_CONNECT_TIMEOUT_MS: '30000',
      DATABASE_POOL_SIZE: String(CONCURRENCY * 5),
      DATABASE_STATEMENT_TIMEOUT_MS: '120000',
    };
    const world = await CrashWorld.open(server.url(name), { ...PROVIDERS[ability], env });
    worlds.push(world);
    world.providers.sms.remembers = ability.startsWith('remember');
    return new Killing(world, ability);
  }

  /** Each provider has said OK, and the notifier's word about it waits for a row that somebody holds. */
  async betweenOkAndCommit(): Promise<void> {
    const ids = await this.tell(CHANNELS);
    const rows = new Client({ connectionString: this.world.url });
    await rows.connect();
    await rows.query('BEGIN');
    try {
      let taken: Promise<unknown> = Promise.resolve();
      this.world.hold = async (id) => {
        if (!ids.has(id)) return;
        taken = taken.then(() => rows.query('SELECT FROM notification WHERE id = $1 FOR UPDATE', [id]));
        await taken;
      };
      const notifier = await this.world.notifier().ready();
      await eventually(
        async () => {
          await this.world.closeBreakers();
          const told = await this.world.told([...ids]);
          const begun = told.filter(({ state }) => state === 'sending');
          const isOpen = told.some(({ state, story }) => state === 'pending' && story.length === 0);
          const waiting = await notifier.waiting('WITH settled');
          if (!isOpen && waiting > 0 && (waiting === begun.length || (await this.allLapsed(ids)))) return true;
          throw new Error(JSON.stringify([waiting, begun.length, told.length]));
        },
        { timeout: 60_000, interval: 50, what: `the ends of ${ids.size} attempts wait to be written` },
      );
      await notifier.kill();
    } finally {
      this.world.hold = () => Promise.resolve();
      await rows.end();
    }
    await this.keepAway(ids, 'accepted');
  }

  /** The attempt is written, and the provider gets nothing of it. */
  async beforeTheCallArrives(): Promise<void> {
    const ids = await this.tell(['sms']);
    const { wire } = this.world.providers;
    wire.pause();
    const notifier = await this.world.notifier().ready();
    await this.all(ids, ({ doubtful }) => doubtful, 'their attempts are written');
    await notifier.kill();
    wire.cutAll();
    wire.resume();
    await this.keepAway(ids, 'begun');
  }

  /** It is claimed, and its attempt waits to be written. */
  async beforeItsAttempt(): Promise<void> {
    const ids = await this.tell(CHANNELS);
    const free = await hold(this.world.url, 'LOCK TABLE notification_attempt IN SHARE MODE');
    const notifier = await this.world.notifier().ready();
    await eventually(async () => (await notifier.waiting('WITH held')) === ids.size, {
      what: `${ids.size} attempts wait to be written`,
    });
    await notifier.kill();
    await free();
    await this.keepAway(ids, 'claimed');
  }

  /** A notifier on a busy machine may have given up writing about some. */
  private async allLapsed(ids: Set<string>): Promise<boolean> {
    const leased = await this.world.sql(
      `SELECT 1 FROM notification WHERE id = ANY($1) AND state = 'sending' AND lease_until > clock_timestamp()`,
      [[...ids]],
    );
    return leased.length === 0;
  }

  /** As many of each channel and provider as one notifier has at once. */
  private async tell(channels: readonly Channel[]): Promise<Set<string>> {
    const each = await Promise.all(
      // Three policies by SMS and by e-mail, two by two webhooks.
      channels.map((channel) =>
        this.world.tell(channel === 'webhook' ? CONCURRENCY : Math.floor(CONCURRENCY / 3), [channel]),
      ),
    );
    return new Set(each.flat());
  }

  private all(ids: Set<string>, is: (one: Told) => boolean, what: string): Promise<boolean> {
    return eventually(async () => (await this.world.told([...ids])).every(is), { what });
  }

  private async keepAway(ids: Set<string>, moment: Moment): Promise<void> {
    const kept = await this.world.sql<{ id: string }>(
      `UPDATE notification SET lease_until = 'infinity' WHERE id = ANY($1) AND state = 'sending' AND doubtful = $2 RETURNING id`,
      [[...ids], moment !== 'claimed'],
    );
    // On a busy machine a call may have been given up before its answer came: it is in doubt, and no window.
    const effects = this.world.effects();
    for (const { id, story } of await this.world.told(kept.map(({ id }) => id))) {
      const had = effects.get(id) ?? 0;
      if (story.join() === (moment === 'claimed' ? '' : 'send') && had === (moment === 'accepted' ? 1 : 0))
        this.moments.set(id, moment);
    }
    // The outage lasts longer than the provider's memory: for both it began two hours ago.
    if (this.ability !== 'remembered it for less than the outage') return;
    await this.world.sql(
      `UPDATE notification SET first_begun_at = first_begun_at - interval '2 hours' WHERE id = ANY($1)`,
      [[...ids]],
    );
  }

  /** Somebody looks at all that was left. */
  async survive(): Promise<void> {
    const { world, ability } = this;
    if (ability === 'remembered it for less than the outage') world.providers.sms.remembers = false;
    const patient = { NOTIFICATION_LEASE_MS: '20000' };
    const notifiers = await Promise.all([world.notifier(patient).ready(), world.notifier(patient).ready()]);
    const asks = `kind = 'message' AND channel = 'sms'`;
    await world.sql(`UPDATE notification SET lease_until = now() WHERE state = 'sending' AND NOT (${asks})`);
    const rest = () =>
      world.sql<{ id: string }>(`SELECT id FROM notification WHERE state IN ('pending', 'sending') AND NOT (${asks})`);
    await eventually(async () => (await rest()).length === 0, { timeout: 240_000, what: 'the others are settled' });
    world.providers.sms.canBeLookedUp = ability !== 'can not be asked';
    await world.sql(`UPDATE notification SET lease_until = now() WHERE state = 'sending'`);
    if (ability === 'can not be asked') await this.waitInVain();
    await world.settled();
    await Promise.all(notifiers.map((notifier) => notifier.stop()));
    this.entries = ledgerOf(await world.told(), world.effects(), ({ id, channel }) => this.caseOf(id, channel));
    ledger.push(...this.entries);
  }

  /** Its log is away until a day after they are worth nothing any more. */
  private async waitInVain(): Promise<void> {
    const { sms } = this.world.providers;
    await eventually(() => sms.lookUps > 0, { what: 'the provider is asked' });
    await this.world.sql(
      `UPDATE notification SET expires_at = now() - interval '25 hours' WHERE kind = 'message' AND channel = 'sms' AND doubtful`,
    );
  }

  private caseOf(id: string, channel: Channel): string {
    const provider = channel === 'sms' ? `SMS, ${this.ability}` : channel;
    return `${this.moments.get(id) ?? 'elsewhere'}, ${provider}`;
  }
}

/** What becomes of one: how often its provider has it, how it ends, and what its attempts tell. */
function expected(entry: Entry, moment: Moment, ability: Ability): object {
  const sent = (effects: number, ...story: string[]) => ({ effects, state: 'sent', story });
  if (moment === 'claimed') return sent(1, 'send accepted');
  const had = moment === 'accepted' ? 1 : 0;
  const isSms = entry.channel === 'sms';
  if (isSms && ability === 'remembers our id') return sent(1, 'send', 'send accepted');
  if (entry.policy === 'repeat') return sent(had + 1, 'send', 'send accepted');
  if (entry.policy === 'skip') return { effects: had, state: 'failed', code: 'may-have-gone-out', story: ['send'] };
  if (!isSms) return { effects: had, state: 'unknown', code: 'nobody-knows', story: ['send'] };
  if (ability === 'can not be asked') return { effects: had, state: 'unknown', code: 'nobody-knows' };
  return had ? sent(1, 'send', 'look-up found') : sent(1, 'send', 'look-up not-found', 'send accepted');
}

/** Kills a notifier again and again, and sees what the next ones make of what it left. */
async function tried(ability: Ability): Promise<Killing> {
  const killing = await Killing.open(ability);
  for (let kill = 0; kill < KILLS; kill++) await killing.betweenOkAndCommit();
  await killing.beforeTheCallArrives();
  await killing.beforeItsAttempt();
  await killing.survive();
  return killing;
}

const ABILITIES = Object.keys(PROVIDERS) as Ability[];

describe('a notifier that is killed', () => {
  const trials = new Map<Ability, Killing>();

  // Two at once: most of the time is spent waiting for leases.
  beforeAll(async () => {
    const lane = async (abilities: Ability[]) => {
      for (const ability of abilities) trials.set(ability, await tried(ability));
    };
    const all = await Promise.allSettled([lane(ABILITIES.slice(0, 2)), lane(ABILITIES.slice(2))]);
    for (const one of all) if (one.status === 'rejected') throw one.reason;
  }, 1_200_000);

  it.each(ABILITIES)('leaves exactly what its kind promises, where the SMS provider %s', (ability) => {
    const { entries, moments } = trials.get(ability) as Killing;
    for (const entry of entries) {
      const moment = moments.get(entry.id);
      if (moment) expect(entry).toMatchObject(expected(entry, moment, ability));
    }
    expect(brokenPromises(entries, ({ channel }) => channel === 'sms' && ability !== 'can not be asked')).toEqual([]);
  });

  it(`left hundreds of notifications of each policy between OK and commit, by ${KILLS} kills for each ability`, () => {
    const windows = [...trials.values()].flatMap(({ entries, moments }) =>
      entries.filter(({ id }) => moments.get(id) === 'accepted'),
    );
    for (const policy of CRASH_POLICIES)
      expect(windows.filter((entry) => entry.policy === policy).length).toBeGreaterThan(KILLS * 25);
  });
});
