import type { Tx } from '../../../platform/database';
import { stateOf } from '../../channels';
import { type Failure, failureOf, isRefusal } from '../attempt';
import { foldBatch, type FreshRecord } from '../batch-fold';
import { deadOf, type ErrorReports } from '../error-reports';
import { type Dispatch, handOver } from '../handing-over';
import type { Outcome } from '../handler';
import type { ReplayObserver, ReplayResult } from '../parked-desk';
import { markFailed, markProcessed, type PendingTurn, rememberTurns } from './drained';
import { type DueSequence, lockSequences } from './due-messages';
import type { InspectedMessage } from './inspect-stored';

/** A due key, or a due message without one, and its messages in order. */
export interface Sequence extends DueSequence {
  messages: readonly InspectedMessage[];
}

/** What became of a parked message. */
export interface Drained {
  message: InspectedMessage;
  /** `held`: an earlier one of its key failed; it was not tried. */
  result: Outcome['kind'];
  failure: Failure | undefined;
}

/** What one transaction recorded. */
export interface DrainOutcome {
  drained: readonly Drained[];
  /** Keys whose next turn is to be given, in a transaction of its own. */
  turns: readonly PendingTurn[];
}

const UNTOUCHED: ReadonlySet<string> = new Set();

/**
 * The steps of {@link RecordTransaction} for messages that are in the table: their inbox ids are taken long since, and their keys are parked. Lock order:
 * the partner's state, the heads, without waiting, then whatever the handlers lock. No key is locked: see key-turns.ts.
 */
export class DrainTransaction {
  constructor(
    private readonly reports: ErrorReports,
    private readonly dispatch: Dispatch,
    private readonly observer: ReplayObserver | undefined,
  ) {}

  /** Hands the messages to their handlers and records an outcome for every one that nobody else has meanwhile. */
  apply(tx: Tx, sequences: readonly Sequence[], now: Date): Promise<DrainOutcome> {
    return this.run(tx, sequences, now, handOver(this.dispatch, tx, now));
  }

  /** Counts the attempt of a message that a handler failed on, alone: if somebody else had it meanwhile, nothing is counted. */
  fail(tx: Tx, sequence: Sequence, now: Date, outcome: Outcome): Promise<DrainOutcome> {
    return this.run(tx, [sequence], now, (run) => Promise.resolve(run.map(() => outcome)));
  }

  private async run(
    tx: Tx,
    sequences: readonly Sequence[],
    now: Date,
    invoke: Parameters<typeof foldBatch>[2],
  ): Promise<DrainOutcome> {
    const partner = sequences[0]?.messages[0]?.stored.partner;
    // Since they were read: they stay due as they are.
    if (partner === undefined || (await stateOf(tx, partner)) === 'suspended') return { drained: [], turns: [] };
    const versions = new Map(
      sequences.flatMap(({ messages }) => messages.map(({ stored }) => [stored.id, stored.version] as const)),
    );
    const locked = await lockSequences(tx, sequences, versions, now);
    const ours = sequences.flatMap((sequence) => {
      const ids = locked.get(sequence.head);
      return ids ? [{ ...sequence, messages: sequence.messages.slice(0, ids.length) }] : [];
    });
    const fresh = new Map(ours.flatMap(({ messages }) => messages).map((message) => [message, freshOf(message)]));
    const { outcomes } = await foldBatch([...fresh.values()], UNTOUCHED, invoke);
    const drained = ours.flatMap((sequence) =>
      drainedOf(
        sequence,
        sequence.messages.map((message) => outcomes.get(fresh.get(message) as FreshRecord) as Outcome),
        now,
      ),
    );
    await this.record(tx, drained, now);
    const turns = await rememberTurns(tx, keysToTurn(ours, drained), now);
    return { drained, turns };
  }

  private async record(tx: Tx, drained: readonly Drained[], now: Date): Promise<void> {
    const applied = drained.filter(({ result }) => result === 'applied');
    const failed = drained.flatMap(({ message, failure }) => (failure ? [{ message, failure }] : []));
    await markProcessed(
      tx,
      applied.map(({ message }) => message.stored.id),
      now,
    );
    await markFailed(
      tx,
      failed.map(({ message, failure }) => ({ id: message.stored.id, failure })),
      now,
    );
    const dead = failed.map(({ message: { told, stored }, failure }) => ({
      inspected: told,
      inboxId: stored.inboxId,
      replayId: stored.replayId ?? undefined,
      failure,
    }));
    await this.reports.add(tx, deadOf(dead), now);
    const results = drained.flatMap(replayResultOf);
    if (results.length > 0) await this.observer?.settled(tx, results);
  }
}

const freshOf = ({ inspected, messageId, refusal }: InspectedMessage): FreshRecord => ({
  inspected,
  inboxId: messageId,
  refusal,
});

/**
 * What became of the messages of one sequence. Behind one that holds nothing is judged, not even what no handler would get: its turn comes.
 * What has lost its place in its key never has it again, whatever its contract says now: what came later may be applied, and the key is not parked.
 */
function drainedOf({ key, messages }: Sequence, outcomes: readonly Outcome[], now: Date): Drained[] {
  let isHeld = false;
  return messages.map((message, index) => {
    const outcome = outcomes[index] as Outcome;
    if (isHeld || !isRefusal(outcome)) return { message, result: isHeld ? 'held' : outcome.kind, failure: undefined };
    const { attempts, countedSince: since, nextAttemptAt: dueAt } = message.stored;
    const failure = failureOf(freshOf(message), outcome, { attempts, since, dueAt }, now);
    isHeld = failure.holds && key !== null;
    return { message, result: outcome.kind, failure: { ...failure, holds: isHeld } };
  });
}

function replayResultOf({ message: { stored }, result, failure }: Drained): ReplayResult[] {
  if (stored.replayId === null || result === 'held') return [];
  const { code, detail } = failure ?? {};
  const what = failure ? (failure.state === 'dead' ? 'failed-again' : 'waiting') : 'processed';
  return [{ parkedId: stored.id, replayId: stored.replayId, result: what, code, detail }];
}

/** Those that no message of these holds any more. */
function keysToTurn(sequences: readonly Sequence[], drained: readonly Drained[]): { channelId: number; key: string }[] {
  const holding = new Set(drained.filter(({ failure }) => failure?.holds).map(({ message }) => message.stored.id));
  return sequences.flatMap(({ channelId, key, messages }) =>
    key === null || messages.some(({ stored }) => holding.has(stored.id)) ? [] : [{ channelId, key }],
  );
}
