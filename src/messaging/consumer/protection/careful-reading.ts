import type { Clock } from '../../../platform/clock';
import type { Database } from '../../../platform/database';
import type { Logger } from '../../../platform/telemetry';
import { fromHeaders } from '../../../contracts';
import type { Channel } from '../../channels';
import type { InboundRecord, RecordBatch } from '../../kafka';
import { contentHash, laneOf, placeOf } from '../record-identity';
import { isIdText } from '../text';
import { livedLongEnough } from './lived-long-enough';
import type { OneAtATime } from './one-at-a-time';
import type { Presence } from './presence';
import { type Lane, Starts } from './starts';

/** What the reading of a process has in common with the rest of it. */
export interface ReadingProcess {
  presence: Presence;
  instance: string;
  suspects: OneAtATime;
}

interface Reading {
  generation: number;
  /** So many new records are still begun one at a time. */
  left: number;
  suspectUpTo: bigint;
}

/**
 * Finds the record that ends the process, whatever way it does so. A partition whose reader ended without a word is read
 * carefully: its next records one at a time, each marked as begun before its handler is called, and no other careful one of
 * this process beside it, or an innocent one would be blamed, too. Costs nothing while processes end in order: one row a
 * partition when reading begins.
 */
export class CarefulReading {
  private readonly lanes = new Map<string, Reading>();
  private readonly starts: Starts;

  /** @param window how many records may have been in hand at the end: a batch */
  constructor(
    private readonly database: Database,
    private readonly process: ReadingProcess,
    private readonly window: number,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    const { presence, instance } = process;
    this.starts = new Starts(database, { run: presence.run, instance });
  }

  /**
   * Before anything of a fetched batch is done. Undefined: read as usual. Else: how many of its first records were taken
   * before, byte for byte; they end nothing, for no handler gets them.
   */
  async enter(batch: RecordBatch, channel: Channel): Promise<number | undefined> {
    const reading = await this.readingOf(batch);
    return reading.left > 0 ? this.knownAhead(batch.records, channel) : undefined;
  }

  /** Runs it when no other suspect of this process is in hand. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    return this.process.suspects.run(work);
  }

  /** Marks a record as begun. False: it ended three processes, and must not be begun again. */
  async begin(lane: Lane, offset: bigint): Promise<boolean> {
    await livedLongEnough();
    return this.starts.begin(lane, offset);
  }

  /** A record that was begun has its outcome. True: the partition may be read as usual from here on. */
  async ended(lane: Lane, offset: bigint): Promise<boolean> {
    const reading = this.lanes.get(laneOf(lane));
    if (!reading || reading.left <= 0) return true;
    if (reading.left > 1 || offset < reading.suspectUpTo) {
      reading.left = Math.max(1, reading.left - 1);
      return false;
    }
    await this.starts.clear(lane, offset);
    reading.left = 0;
    this.logger.info({ ...named(lane), offset: String(offset) }, 'nothing ended the process: read as usual again');
    return true;
  }

  /**
   * What was begun has no outcome, for something of ours is away, or the partition is: nobody has it in hand until it comes again, so that
   * an end of the process meanwhile is not its doing.
   */
  putBack(lane: Lane): Promise<void> {
    return this.starts.putBack(lane);
  }

  /** A clean end. What was left unmarked by a crash of the database is read carefully by the next. */
  async leave(): Promise<void> {
    if (this.lanes.size > 0) await this.starts.leave();
  }

  /** A partition may have been another's in between whenever the group has changed. */
  private async readingOf(batch: RecordBatch): Promise<Reading> {
    const before = this.lanes.get(laneOf(batch));
    if (before?.generation === batch.generation) return before;
    await this.process.presence.established();
    const lane = { topic: batch.topic, partition: batch.partition };
    const { unclean, suspectUpTo } = await this.starts.enter(lane, this.clock.now());
    const careful = unclean || suspectUpTo !== null;
    const reading = {
      generation: batch.generation,
      left: careful ? this.window : (before?.left ?? 0),
      suspectUpTo: suspectUpTo ?? -1n,
    };
    this.lanes.set(laneOf(batch), reading);
    if (careful) {
      this.logger.warn(
        { ...named(lane), code: 'process-ended', records: this.window },
        'whoever read this partition ended without a word: its next records are read one at a time',
      );
    }
    return reading;
  }

  private async knownAhead(records: readonly InboundRecord[], channel: Channel): Promise<number> {
    const ids = records.map((record) => idOf(record));
    const rows = await this.database.query<{ id: string; hash: string }>(
      `SELECT message_id AS id, encode(hash, 'hex') AS hash FROM inbox WHERE channel_id = :channelId AND message_id = ANY(:ids::text[])`,
      { channelId: channel.id, ids },
    );
    const known = new Map(rows.map(({ id, hash }) => [id, hash]));
    const fresh = records.findIndex((record, index) => known.get(ids[index] ?? '') !== contentHash(record));
    return fresh < 0 ? records.length : fresh;
  }
}

function idOf(record: InboundRecord): string {
  const { id } = fromHeaders(record.headers);
  return id !== undefined && isIdText(id) ? id : placeOf(record);
}

const named = ({ topic, partition }: Lane): { topic: string; partition: number } => ({ topic, partition });
