import { type AnyContract, topicFor } from '../../contracts';
import type { Clock } from '../../platform/clock';
import { type Database, isDatabaseOutage } from '../../platform/database';
import { messageOf } from '../../platform/errors';
import { sleep } from '../../platform/polling';
import type { Logger } from '../../platform/telemetry';
import { type ChannelCatalog, stateOf } from '../channels';
import type { Outbox } from '../outbox';
import type { DeadlineHandlers } from './deadline-handlers';
import type { DeadlineJudge } from './deadline-judge';
import { lookAgain } from './domain/deadline';
import type { Candidate, DueExchanges } from './due-exchanges';
import type { ReplyMark, ReplyWatch } from './reply-watch';

/** Between two passes: how much later than its deadline a request is dealt with. */
const EVERY_MS = 10_000;
/** Exchanges of one transaction. */
const BATCH = 100;
/** Candidates of one look. */
const PAGE = 500;
/**
 * Looked at once more, ms: a `look_at` is written a minute ahead at least ({@link lookAtFor}), so nothing comes to lie this far behind what
 * was looked at, unless a transaction takes longer than both together.
 */
const OVERLAP_MS = 10_000;

/** What a pass did, for the log and for tests. */
export interface DeadlinePass {
  resent: number;
  overdue: number;
}

/** A topic on which a partner answers requests that have a deadline. */
interface ReplyTopic {
  topic: string;
  partner: string;
  requests: readonly AnyContract[];
}

export interface WatcherParts {
  database: Database;
  channels: ChannelCatalog;
  contracts: readonly AnyContract[];
  handlers: DeadlineHandlers;
  due: DueExchanges;
  judge: DeadlineJudge;
  replies: ReplyWatch;
  outbox: Outbox;
  clock: Clock;
  logger: Logger;
}

/**
 * Sees to it that every request has a recorded end (G5). Several may run side by side: candidates are picked unlocked, and the locks of
 * order and exchange decide who deals with one.
 */
export class DeadlineWatcher {
  private failing = false;

  /** For health: undefined while all goes well. */
  get trouble(): string | undefined {
    return this.failing ? 'deadlines can not be judged now; nothing is called overdue' : undefined;
  }

  constructor(private readonly parts: WatcherParts) {}

  /** Passes until the signal aborts. Without the broker or the database nothing is judged, and the next pass tries again. */
  async run(signal: AbortSignal, everyMs = EVERY_MS): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.pass(signal);
        if (this.failing) this.parts.logger.info('deadlines are judged again');
        this.failing = false;
      } catch (error) {
        // Said once: that the broker or the database is away, others say too.
        if (!this.failing && !signal.aborted)
          this.parts.logger.warn(
            { reason: messageOf(error) },
            'deadlines can not be judged now; nothing is called overdue',
          );
        this.failing = true;
      }
      // Random, so that the processes of an installation don't look at once.
      await sleep(everyMs * (0.75 + Math.random() / 2), signal);
    }
  }

  /** One look at all partners. */
  async pass(signal?: AbortSignal): Promise<DeadlinePass> {
    const { channels, replies, clock } = this.parts;
    await channels.load();
    const topics = this.replyTopics();
    const marks = await replies.look([...topics.keys()], clock.now());
    const done: DeadlinePass = { resent: 0, overdue: 0 };
    for (const mark of marks) {
      const topic = topics.get(mark.topic);
      if (topic && mark.readUpTo && !signal?.aborted) await this.judgeTopic(topic, mark, mark.readUpTo, done, signal);
    }
    if (done.resent + done.overdue > 0) this.parts.logger.info({ ...done }, 'deadlines have passed');
    return done;
  }

  private replyTopics(): Map<string, ReplyTopic> {
    const { channels, contracts } = this.parts;
    const found = channels.inbound().flatMap(({ topic, partner }): [string, ReplyTopic][] => {
      const requests = contracts.filter(
        ({ name, direction, deadlineMs }) =>
          direction === 'out' &&
          deadlineMs !== undefined &&
          contracts.some((answer) => answer.answers === name && topicFor(answer, partner) === topic),
      );
      return requests.length === 0 ? [] : [[topic, { topic, partner, requests }]];
    });
    return new Map(found);
  }

  /** All that is to be looked at by `upTo`, page by page; only then is the topic called judged up to there. */
  private async judgeTopic(
    { topic, partner, requests }: ReplyTopic,
    { judgedUpTo }: ReplyMark,
    upTo: Date,
    done: DeadlinePass,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { due, replies } = this.parts;
    let after = judgedUpTo && new Date(judgedUpTo.getTime() - OVERLAP_MS);
    const kinds = requests.map(({ name }) => name);
    for (;;) {
      const candidates = await due.candidates({ partner, kinds, after, upTo }, PAGE);
      for (const contract of requests) {
        const ofKind = candidates.filter(({ kind }) => kind === contract.name);
        for (let start = 0; start < ofKind.length; start += BATCH) {
          if (signal?.aborted) return;
          if (!(await this.settle(contract, partner, ofKind.slice(start, start + BATCH), upTo, done))) return;
        }
      }
      // Whatever was looked at has ended or is looked at later than `upTo`.
      if (candidates.length < PAGE) break;
      after = candidates.at(-1)?.lookAt ?? after;
    }
    await replies.judged(topic, upTo);
  }

  /**
   * In one transaction; when something is broken it is halved down to the offender, which is put off and said. False: the partner is stopped, so
   * that nothing of it is judged, and all is looked at again when it is resumed.
   */
  private async settle(
    contract: AnyContract,
    partner: string,
    candidates: readonly Candidate[],
    upTo: Date,
    done: DeadlinePass,
  ): Promise<boolean> {
    const { database, outbox, logger, clock } = this.parts;
    try {
      const pass = await this.settleTogether(contract, partner, candidates, upTo);
      if (!pass) return false;
      done.resent += pass.resent;
      done.overdue += pass.overdue;
      if (pass.resent > 0) outbox.wake();
    } catch (error) {
      if (isDatabaseOutage(error)) throw error;
      const [only] = candidates;
      if (candidates.length > 1) {
        const half = candidates.length >> 1;
        const [first, second] = [candidates.slice(0, half), candidates.slice(half)];
        return (
          (await this.settle(contract, partner, first, upTo, done)) &&
          (await this.settle(contract, partner, second, upTo, done))
        );
      } else if (only) {
        const lookAt = lookAgain(only.lookAt, clock.now());
        const { orderNumber: order, correlationId: correlation_id } = only;
        const fields = {
          order,
          partner,
          correlation_id,
          code: 'deadline-failed',
          reason: messageOf(error),
          again_at: lookAt,
        };
        logger.error(fields, 'a deadline could not be dealt with; it is tried again');
        await database.transaction((tx) => this.parts.due.putOff(tx, partner, only.correlationId, lookAt));
      }
    }
    return true;
  }

  private settleTogether(
    contract: AnyContract,
    partner: string,
    candidates: readonly Candidate[],
    upTo: Date,
  ): Promise<DeadlinePass | undefined> {
    const { database, handlers, judge, clock } = this.parts;
    const handler = handlers.of(contract.name);
    if (!handler) throw new Error(`nobody handles the deadline of ${contract.name}`);
    const correlationIds = candidates.map(({ correlationId }) => correlationId);
    const orderNumbers = [...new Set(candidates.map(({ orderNumber }) => orderNumber))].sort();
    return database.transaction(async (tx) => {
      if ((await stateOf(tx, partner)) !== 'active') return undefined;
      const now = clock.now();
      const pass: DeadlinePass = { resent: 0, overdue: 0 };
      await handler(tx, {
        partner,
        orderNumbers,
        now,
        judge: async () => {
          const steps = await judge.judge(tx, contract, { partner, correlationIds, upTo, now });
          for (const { kind } of steps) pass[kind]++;
          return steps;
        },
      });
      return pass;
    });
  }
}
