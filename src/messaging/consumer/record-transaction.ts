import type { Tx } from '../../platform/database';
import { stateOf } from '../channels';
import { type Failure, failureOf, isRefusal } from './attempt';
import { foldBatch, type FoldResult, type FreshRecord, type Invoke } from './batch-fold';
import { deadOf, type ErrorReports } from './error-reports';
import type { Outcome } from './handler';
import { type Dispatch, handOver } from './handing-over';
import { type Inbox, type InboxEntry, inboxKey } from './inbox';
import { type InspectedRecord, REUSED } from './inspect';
import { keepBatch } from './keeping';
import { holdBehindFirst } from './key-turns';
import type { Parked, ParkedRecord } from './parked';
import { type ChannelKey, placeOf } from './record-identity';

/** What became of a record: recorded in the same transaction that this names. */
export interface Settled {
  inspected: InspectedRecord;
  result: Outcome['kind'] | 'duplicate';
  code?: string;
}

/**
 * The set-based steps of one transaction over records of one partner. Lock order: the partner's state, inbox ids, parked keys, then whatever
 * the handlers lock (orders, exchanges). What is parked, and what of it the partner is told, is written last.
 */
export class RecordTransaction {
  constructor(
    private readonly inbox: Inbox,
    private readonly parked: Parked,
    private readonly reports: ErrorReports,
    private readonly dispatch: Dispatch,
  ) {}

  /** Hands new records to their handlers and records an outcome for every one. */
  apply(tx: Tx, records: readonly InspectedRecord[], now: Date): Promise<Settled[]> {
    return this.run(tx, records, now, handOver(this.dispatch, tx, now));
  }

  /**
   * Parks the record that a handler failed on, alone. The same steps: if another consumer took it meanwhile it is a
   * duplicate and nothing is parked or counted; if its key was parked meanwhile it is held.
   */
  park(tx: Tx, record: InspectedRecord, now: Date, outcome: Outcome): Promise<Settled[]> {
    return this.run(tx, [record], now, () => Promise.resolve([outcome]));
  }

  private async run(tx: Tx, records: readonly InspectedRecord[], now: Date, invoke: Invoke): Promise<Settled[]> {
    const [first] = records;
    const state = first && (await stateOf(tx, first.channel.partner));
    const fresh = await this.takeFresh(tx, records, now);
    const settled: Settled[] = records
      .filter((inspected) => !fresh.has(inspected))
      .map((inspected) => ({ inspected, result: 'duplicate' }));
    if (fresh.size === 0) return settled;

    const list = [...fresh.values()];
    const keys = keysOf(list);
    const parkedBefore = await this.parked.lockedKeys(tx, [...keys.values()]);
    const fold = state === 'suspended' ? keepBatch(list, parkedBefore) : await foldBatch(list, parkedBefore, invoke);
    const parkedMeanwhile = await this.parked.parkKeys(
      tx,
      [...fold.parkedKeys].map((sequence) => keys.get(sequence) as ChannelKey),
      now,
    );
    const parked = toPark(fold, now);
    await this.parked.add(tx, parked, now);
    await holdBehindFirst(tx, parkedMeanwhile);
    await this.reports.add(tx, deadOf(parked), now);
    const failures = new Map(parked.map(({ inspected, failure }) => [inspected, failure]));
    for (const [{ inspected }, outcome] of fold.outcomes) {
      settled.push({ inspected, ...resultOf(outcome, failures.get(inspected)) });
    }
    return settled;
  }

  /** Takes the records' identities; what is left is new, in order. A repeat is not new; other content under a taken id is. */
  private async takeFresh(
    tx: Tx,
    records: readonly InspectedRecord[],
    now: Date,
  ): Promise<Map<InspectedRecord, FreshRecord>> {
    const first = new Map<string, InspectedRecord>();
    for (const record of records) {
      if (!first.has(record.identity)) first.set(record.identity, record);
    }
    const entries = [...first.values()].map((record) => entryOf(record, record.inboxId));
    const taken = await this.inbox.take(tx, entries, now);
    const reused = taken.size === records.length ? [] : await this.reused(tx, records, first, taken, now);
    const fresh = new Map<InspectedRecord, FreshRecord>();
    for (const inspected of records) {
      const { identity } = inspected;
      const refusal = 'refusal' in inspected.content ? inspected.content.refusal : undefined;
      if (first.get(identity) === inspected && taken.has(identity)) {
        fresh.set(inspected, { inspected, inboxId: inspected.inboxId, refusal });
      } else if (reused.includes(inspected)) {
        fresh.set(inspected, { inspected, inboxId: reusedId(inspected), refusal: REUSED });
      }
    }
    return fresh;
  }

  /**
   * Of the records whose id was taken before, in the table or earlier in the batch: those with other content. Such a
   * record can't have the id, so its place and hash stand for it in the inbox: delivered again, it is a duplicate.
   */
  private async reused(
    tx: Tx,
    records: readonly InspectedRecord[],
    first: ReadonlyMap<string, InspectedRecord>,
    taken: ReadonlySet<string>,
    now: Date,
  ): Promise<InspectedRecord[]> {
    const known = [...first].filter(([key]) => !taken.has(key)).map(([, record]) => entryOf(record, record.inboxId));
    const hashes = known.length > 0 ? await this.inbox.hashes(tx, known) : new Map<string, string>();
    const others = new Map<string, InspectedRecord>();
    for (const record of records) {
      const { identity } = record;
      const original = taken.has(identity) ? first.get(identity)?.hash : hashes.get(identity);
      if (original !== record.hash) others.set(inboxKey(record.channel.id, reusedId(record)), record);
    }
    if (others.size === 0) return [];
    const entries = [...others.values()].map((record) => entryOf(record, reusedId(record)));
    const fresh = await this.inbox.take(tx, entries, now);
    return [...others].filter(([key]) => fresh.has(key)).map(([, record]) => record);
  }
}

/** In the order of the fold, which within a key is that of the records: it numbers them. */
function toPark({ outcomes, next }: FoldResult, now: Date): ParkedRecord[] {
  const parked: ParkedRecord[] = [];
  for (const [record, outcome] of outcomes) {
    if (outcome.kind === 'applied') continue;
    const { inspected, inboxId } = record;
    const failure = isRefusal(outcome) ? failureOf(record, outcome, UNTRIED, now) : undefined;
    parked.push({ inspected, inboxId, failure, isNext: next?.has(record) ?? false });
  }
  return parked;
}

const UNTRIED = { attempts: 0, since: null, dueAt: null };

function resultOf(outcome: Outcome, failure: Failure | undefined): Pick<Settled, 'result' | 'code'> {
  if (!failure) return { result: outcome.kind };
  return { result: failure.state === 'dead' ? 'dead' : 'retry', code: failure.code };
}

function keysOf(records: readonly FreshRecord[]): Map<string, ChannelKey> {
  const keys = new Map<string, ChannelKey>();
  for (const { inspected } of records) {
    const { sequence, key, channel } = inspected;
    if (sequence !== null && key !== null) keys.set(sequence, { channelId: channel.id, key });
  }
  return keys;
}

const reusedId = (record: InspectedRecord): string => `${placeOf(record.record)}#${record.hash}`;

function entryOf({ channel, record, hash }: InspectedRecord, messageId: string): InboxEntry {
  return { channelId: channel.id, messageId, hash, partition: record.partition, offset: record.offset };
}
