import { type Database, query, type Tx } from '../../platform/database';
import { plan, type Verdict } from '../domain/crash-policy';
import { crashPolicyOf, type NotificationKind } from '../domain/kind';
import type { Channel } from '../domain/notification';
import { endAll } from './attempts';
import type { NotificationObserver } from './observer';

/** What is in doubt and only its provider can tell of is left to it so long after its expiry: the breaker may be open, or nothing configured. */
const PATIENCE_MS = 24 * 60 * 60_000;
const OF_ANOTHER_RELEASE: Pick<NotificationKind, 'crash' | 'retry'> = {
  crash: 'look-up',
  retry: { initialMs: 1, maxMs: 1, attempts: 1 },
};

interface Overdue {
  id: string;
  kind: string;
  channel: Channel;
  attempts: number;
  doubtful: boolean;
  firstBegunAt: Date | null;
  expiresAt: Date;
}

/**
 * Ends what waits and is worth nothing any more, where no lane comes to it: its provider is disabled, closed, not configured, or it waits for
 * quiet hours to end.
 */
export class Expiry {
  private readonly kinds: ReadonlyMap<string, NotificationKind>;

  constructor(
    private readonly database: Database,
    kinds: readonly NotificationKind[],
    private readonly observer: Pick<NotificationObserver, 'settled'>,
  ) {
    this.kinds = new Map(kinds.map((kind) => [kind.name, kind]));
  }

  /** Resolves with how many have ended. */
  async pass(limit = 500): Promise<number> {
    const ended = await this.database.transaction(async (tx) => {
      const overdue = await this.lock(tx, limit);
      const groups = Map.groupBy(overdue, (one) => JSON.stringify(this.endOf(one)));
      for (const [end, members] of groups)
        await endAll(
          tx,
          members.map(({ id }) => id),
          JSON.parse(end) as Verdict,
        );
      return overdue;
    });
    for (const one of ended) this.observer.settled(one.kind, one.channel, this.endOf(one).state);
    return ended.length;
  }

  private lock(tx: Tx, limit: number): Promise<Overdue[]> {
    const decided = [...this.kinds.values()].flatMap((kind) =>
      kind.channels
        .filter((channel) => crashPolicyOf(kind, channel) !== 'look-up')
        .map((channel) => `${kind.name} ${channel}`),
    );
    return query<Overdue>(
      tx,
      `SELECT id, kind, channel, attempts, doubtful, first_begun_at AS "firstBegunAt", expires_at AS "expiresAt"
       FROM notification WHERE state = 'pending' AND expires_at <= now()
         AND (NOT doubtful OR kind || ' ' || channel = ANY(:decided::text[]) OR expires_at <= now() - :patience::float8 * interval '1 millisecond')
       ORDER BY expires_at LIMIT :limit FOR UPDATE SKIP LOCKED`,
      { limit, patience: PATIENCE_MS, decided },
    );
  }

  /** As if its provider could not be asked: it could not, or a lane would have come to it. */
  private endOf(notification: Overdue): Verdict {
    const kind = this.kinds.get(notification.kind);
    const provider = { remembersMs: 0, reachesWithinMs: 0, looksUp: false };
    const decides = kind ? { crash: crashPolicyOf(kind, notification.channel), retry: kind.retry } : OF_ANOTHER_RELEASE;
    const situation = { notification, kind: decides, provider, mayDisturb: (at: Date) => at };
    const step = plan(situation, notification.expiresAt);
    if (step.do !== 'write') throw new Error(`what is expired is not to be ${step.do}`);
    return step.verdict;
  }
}
