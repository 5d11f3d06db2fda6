import fc from 'fast-check';
import {
  type Begun,
  judge,
  type Outcome,
  plan,
  type Situation,
  type Verdict,
} from '../../../../src/notifications/domain/crash-policy';
import { CRASH_POLICIES } from '../../../../src/notifications/domain/kind';

const LEASE = 60_000;
const TIMEOUT = 10_000;
const HOUR = 3_600_000;

/** What the world does to one step; `killed…`: nobody settles. */
const EVENTS = [
  'accepted',
  'refused',
  'later',
  'lost before',
  'lost behind',
  'killed before',
  'killed behind',
  'not asked',
] as const;
type Event = (typeof EVENTS)[number];

/** One look at it. All times are the longest that a lease, a timeout and a provider's open breaker allow, or less. */
interface Look {
  event: Event;
  /** From the time that it was due until it was claimed, ms. */
  waitMs: number;
  /** From its claim until its attempt, ms. */
  stallMs: number;
  /** From its attempt until a request whose answer nobody heard reaches the provider, as a part of all the time that there is. */
  underWay: number;
}

interface World {
  policy: (typeof CRASH_POLICIES)[number];
  remembersMs: number;
  looksUp: boolean;
  attempts: number;
  expiresMs: number;
  looks: Look[];
}

/** One notification, from its making to its end, against a provider that does as it is told. */
class Life {
  now = 0;
  /** Times at which it had its effect, as its receiver counts. */
  readonly effects: number[] = [];
  readonly sends: number[] = [];
  verdict: Verdict | undefined;
  private state;
  private known = -Infinity;
  /** Requests that reach the provider at these times. */
  private underWay: number[] = [];

  constructor(private readonly world: World) {
    const expiresAt = new Date(world.expiresMs);
    this.state = { attempts: 0, doubtful: false, firstBegunAt: null as Date | null, expiresAt };
  }

  private get situation(): Situation {
    const { policy, attempts, remembersMs, looksUp } = this.world;
    return {
      notification: this.state,
      kind: { crash: policy, retry: { initialMs: 1_000, maxMs: 600_000, attempts } },
      provider: { remembersMs, looksUp, reachesWithinMs: LEASE + TIMEOUT },
      mayDisturb: (time) => time,
    };
  }

  run(): this {
    for (let n = 0; n < 500 && (!this.verdict || this.verdict.state === 'pending'); n++)
      this.step(this.world.looks[n] ?? at('accepted'));
    this.arrive(Infinity);
    return this;
  }

  private step({ event, waitMs, stallMs, underWay }: Look): void {
    const decided = (this.now += waitMs);
    const next = plan(this.situation, new Date(decided));
    if (next.do === 'write') return this.write(next.verdict);
    this.now += stallMs;
    // Its attempt is not written then, and it is decided on again.
    if (next.do === 'send' && this.now >= this.world.expiresMs) return;
    const [begun, wasDoubtful] = [this.now, this.state.doubtful];
    const latest = decided + LEASE + TIMEOUT;
    this.state = { ...this.state, attempts: this.state.attempts + 1, doubtful: true };
    if (next.do === 'send') {
      this.sends.push(this.now);
      this.state.firstBegunAt ??= new Date(this.now);
    }
    const conclusive = begun + LEASE + TIMEOUT;
    const outcome = next.do === 'send' ? this.send(event, begun + underWay * (latest - begun)) : this.lookUp(event);
    if (!outcome) {
      this.now = conclusive;
      return;
    }
    const attempt: Begun = {
      ...{ action: next.do, begunAt: new Date(begun), conclusiveAt: new Date(conclusive), wasDoubtful },
      pauseMs: 1_000 * 2 ** Math.min(9, this.state.attempts),
    };
    this.write(
      judge(
        { ...this.situation, notification: { ...this.state, doubtful: wasDoubtful } },
        attempt,
        outcome,
        new Date(this.now),
      ),
    );
  }

  private write(verdict: Verdict): void {
    this.verdict = verdict;
    this.state.doubtful = verdict.doubtful;
    if (verdict.state !== 'pending') return;
    if (verdict.forgets) this.state.firstBegunAt = null;
    this.now = Math.max(this.now, verdict.nextAttemptAt.getTime());
  }

  /** What is under way until then. */
  private arrive(until: number): void {
    const [come, stays] = [this.underWay.filter((time) => time <= until), this.underWay.filter((time) => time > until)];
    this.underWay = stays;
    for (const time of come.toSorted((a, b) => a - b))
      if (time > this.known + this.world.remembersMs) {
        this.effects.push(time);
        this.known = time;
      }
  }

  private send(event: Event, arrival: number): Outcome | undefined {
    if (event === 'lost behind' || event === 'killed behind') this.underWay.push(arrival);
    if (event === 'accepted') this.underWay.push(this.now);
    this.arrive(this.now);
    const said = { code: 'c', detail: 'd' };
    if (event.startsWith('killed')) return undefined;
    if (event.startsWith('lost')) return { kind: 'unknown', ...said };
    if (event === 'not asked') return { kind: 'not-sent', ...said };
    if (event === 'later') return { kind: 'later', ...said, fault: true };
    return event === 'refused' ? { kind: 'refused', ...said } : { kind: 'accepted' };
  }

  private lookUp(event: Event): Outcome | undefined {
    this.arrive(this.now);
    if (event.startsWith('killed')) return undefined;
    if (event === 'later' || event.startsWith('lost')) return { kind: 'unavailable', code: 'c', detail: 'd' };
    return this.effects.length > 0 ? { kind: 'found' } : { kind: 'not-found' };
  }
}

const at = (event: Event): Look => ({ event, waitMs: 0, stallMs: 0, underWay: 0 });

const look = fc.record<Look>({
  event: fc.constantFrom(...EVENTS),
  waitMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: LEASE }), fc.integer({ min: 0, max: 660_000 })),
  stallMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: LEASE - TIMEOUT - 1 })),
  underWay: fc.double({ min: 0, max: 1, noNaN: true }),
});
const world = fc.record<World>({
  policy: fc.constantFrom(...CRASH_POLICIES),
  remembersMs: fc.constantFrom(0, 30_000, 600_000, 86_400_000),
  looksUp: fc.boolean(),
  attempts: fc.integer({ min: 1, max: 6 }),
  expiresMs: fc.constantFrom(60_000, 600_000, HOUR),
  looks: fc.array(look, { maxLength: 30 }),
});
const RUNS = { numRuns: 3_000 };
const of = (policy: World['policy'], check: (life: Life, seen: World) => void) =>
  fc.assert(
    fc.property(
      world.map((one) => ({ ...one, policy })),
      (one) => check(new Life(one).run(), one),
    ),
    RUNS,
  );

describe('whatever providers answer and whoever is killed', () => {
  it.each(CRASH_POLICIES)('%s: comes to an end, and is not sent behind its expiry', (policy) => {
    of(policy, ({ verdict, sends }, { expiresMs }) => {
      expect(verdict?.state).toMatch(/^(sent|failed|unknown|expired)$/);
      expect(sends.every((time) => time < expiresMs)).toBe(true);
    });
  });

  it.each(['skip', 'look-up'] as const)('%s: has its effect once at most', (policy) => {
    of(policy, ({ effects }) => expect(effects.length).toBeLessThanOrEqual(1));
  });

  it('look-up: has had its effect when it is sent, none when it failed or expired without a doubt', () => {
    of('look-up', ({ verdict, effects }) => {
      if (verdict?.state === 'sent') expect(effects).toHaveLength(1);
      else if (!verdict?.doubtful) expect(effects).toHaveLength(0);
      else expect(verdict.state).toMatch(/^(unknown|failed)$/);
    });
  });

  it('look-up: is not asked about while a request may be under way, also when it expires before it can be sent again', () => {
    const looks: Look[] = [
      { event: 'lost behind', waitMs: 50_000, stallMs: 0, underWay: 1 },
      { event: 'accepted', waitMs: 9_000, stallMs: 0, underWay: 0 },
    ];
    const life = { policy: 'look-up', remembersMs: 600_000, looksUp: true, attempts: 3, expiresMs: 60_000 } as const;
    expect(new Life({ ...life, looks }).run().verdict).toMatchObject({ state: 'sent', code: 'found' });
  });

  it('look-up: crashes and lost answers alone never leave it without its effect, where the provider can be asked', () => {
    const crash = fc.constantFrom<Event>('lost before', 'lost behind', 'killed before', 'killed behind');
    fc.assert(
      fc.property(fc.array(crash, { maxLength: 20 }), fc.constantFrom(0, 600_000), (crashes, remembersMs) => {
        // What asks is answered.
        const looks = crashes.flatMap((event) => [at(event), at('accepted')]);
        const life = new Life({
          policy: 'look-up',
          remembersMs,
          looksUp: true,
          attempts: 40,
          expiresMs: HOUR,
          looks,
        }).run();
        expect([life.verdict?.state, life.effects.length]).toEqual(['sent', 1]);
      }),
      RUNS,
    );
  });

  it('repeat: is never without its effect for a crash, as long as it is worth anything', () => {
    const crash = fc.constantFrom<Event>('killed before', 'killed behind', 'not asked');
    fc.assert(
      fc.property(fc.array(crash, { maxLength: 40 }), fc.integer({ min: 1, max: 3 }), (events, attempts) => {
        const { verdict, effects } = new Life({
          policy: 'repeat',
          remembersMs: 0,
          looksUp: false,
          attempts,
          expiresMs: HOUR,
          looks: events.map(at),
        }).run();
        expect([verdict?.state, effects.length > 0]).toEqual(['sent', true]);
      }),
      RUNS,
    );
  });
});
