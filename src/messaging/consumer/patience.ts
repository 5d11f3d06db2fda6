import { messageOf } from '../../platform/errors';
import { backoffMs, sleep } from '../../platform/polling';
import type { Logger } from '../../platform/telemetry';
import { type Infrastructure, infrastructureOf } from './failure';
import { laneOf } from './record-identity';

/** The work is not ours to finish: the partitions are somebody else's now, given back, or the process is closing. Offsets stay, the records come again. */
export class Abandoned extends Error {
  override readonly name = 'Abandoned';
}

/** A partition in hand, as far as waiting is concerned. */
export interface Membership {
  readonly topic: string;
  readonly partition: number;
  readonly isGone: boolean;
  heartbeat(): Promise<void>;
  giveBack(forMs: number, reason: string): void;
}

/** All in ms. */
export interface PatienceTimes {
  /** First pause between two attempts; it doubles. */
  initial: number;
  /** So long a batch waits in hand; then its partitions are given back, so that others of their broker flow. */
  inHand: number;
  /** So long partitions that were given back are left alone. */
  away: number;
}

const TIMES: PatienceTimes = { initial: 50, inHand: 2_000, away: 2_000 };

const CAUSES: Readonly<Record<Infrastructure | 'parking', string>> = {
  database: 'the database does not answer',
  registry: 'the registry has not what is needed, or does not answer',
  parking: 'a record can be neither applied nor parked',
};

interface Wait {
  what: Infrastructure | 'parking';
  sentence: string;
  /** When it no longer counts, unless it is renewed. */
  until: number;
}

/** Waits for our own infrastructure as long as it takes: no message is blamed for it, nothing is parked or counted. */
export class Patience {
  /** By partition: in hand, or given back and not tried again yet. */
  private readonly waits = new Map<string, Wait>();
  private inHand = 0;

  constructor(
    private readonly logger: Logger,
    private readonly signal: AbortSignal,
    /** Called when a batch begins to wait: it needs no room meanwhile. */
    private readonly onWait: () => void = () => undefined,
    private readonly times: PatienceTimes = TIMES,
  ) {}

  /** How many batches wait in hand. */
  get count(): number {
    return this.inHand;
  }

  /** What is waited for, and why, while something is. */
  get current(): Pick<Wait, 'what' | 'sentence'> | undefined {
    return [...this.waits.values()].find((wait) => wait.until > Date.now());
  }

  /**
   * Calls `attempt` until it succeeds or fails for a reason of its own. With `stubborn` there is none: used where a record
   * has no other place to go. Rejects with {@link Abandoned} when no partition is ours or it took too long.
   */
  async run<T>(works: readonly Membership[], attempt: () => Promise<T>, stubborn = false): Promise<T> {
    const began = Date.now();
    for (let failures = 0; ; failures++) {
      this.mustBeOurs(works);
      try {
        const result = await attempt();
        this.forget(works);
        return result;
      } catch (error) {
        const what = infrastructureOf(error) ?? (stubborn ? 'parking' : undefined);
        if (error instanceof Abandoned || !what) throw error;
        this.note(works, what, error);
        if (Date.now() - began >= this.times.inHand) this.giveBack(works);
        await this.wait(works, backoffMs({ initialMs: this.times.initial, maxMs: this.times.inHand }, failures + 1));
      }
    }
  }

  private async wait(works: readonly Membership[], milliseconds: number): Promise<void> {
    this.inHand++;
    this.onWait();
    await sleep(milliseconds, this.signal);
    this.inHand--;
    await Promise.all(works.filter((work) => !work.isGone).map((work) => work.heartbeat()));
  }

  private giveBack(works: readonly Membership[]): never {
    for (const work of works) {
      const wait = this.waits.get(laneOf(work));
      if (wait) wait.until = Date.now() + 3 * this.times.away;
      if (!work.isGone) work.giveBack(this.times.away, wait?.sentence ?? 'The consumer waits.');
    }
    throw new Abandoned('given back');
  }

  private mustBeOurs(works: readonly Membership[]): void {
    if (!this.signal.aborted && works.some((work) => !work.isGone)) return;
    for (const work of works) this.waits.delete(laneOf(work));
    throw new Abandoned('not ours any more');
  }

  private note(works: readonly Membership[], what: Wait['what'], error: unknown): void {
    const reason = messageOf(error, 200);
    const cause = CAUSES[what];
    // One line for the outage, not one for each batch and attempt; what it is about shows in the health signals meanwhile.
    if (this.current?.what !== what) {
      const topics = works.map((work) => laneOf(work));
      this.logger.warn({ code: `${what}-unavailable`, topics, reason }, `the consumer waits: ${cause}`);
    }
    const wait = { what, sentence: `The consumer waits: ${cause} (${reason}).`, until: Infinity };
    for (const work of works) this.waits.set(laneOf(work), { ...wait });
  }

  private forget(works: readonly Membership[]): void {
    if (this.waits.size === 0) return;
    const before = this.current;
    for (const work of works) {
      // One that was given back still waits; it is forgotten when it comes again, or by itself.
      const isAway = work.isGone && this.waits.get(laneOf(work))?.until !== Infinity;
      if (!isAway) this.waits.delete(laneOf(work));
    }
    if (before && !this.current) this.logger.info({ waited_for: before.what }, 'the consumer goes on');
  }
}
