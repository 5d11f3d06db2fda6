import { type Database, query, type Tx } from '../../../platform/database';
import { PRESENCE_LOCK } from './presence';

/** A partition, as far as marks are concerned. */
export interface Lane {
  topic: string;
  partition: number;
}

/** Who marks. */
export interface Marker {
  run: number;
  instance: string;
}

/** What whoever had the partition before has left. */
export interface Predecessor {
  /** Did its process end without a word while it read this partition? */
  unclean: boolean;
  /** Last offset that was begun by a process which then ended so; null: none. */
  suspectUpTo: bigint | null;
}

/** Starts after which a record is given to no handler any more. */
export const MOST_STARTS = 3;

/** Marks of who reads what and of what was begun, so that a record which ends processes is found. */
export class Starts {
  constructor(
    private readonly database: Database,
    private readonly marker: Marker,
  ) {}

  /** Marks the partition as read by us. */
  enter(lane: Lane, now: Date): Promise<Predecessor> {
    const { run, instance } = this.marker;
    const values = { ...valuesOf(lane), run, instance, now };
    return this.database.transaction(async (tx) => {
      // DO UPDATE of nothing: locks the row that is there, so that two which enter do so one after the other.
      const [row] = await query<{ before: number }>(
        tx,
        `INSERT INTO consumer_start AS s (topic, partition, run, instance, started_at) VALUES (:topic, :partition, :run, :instance, :now)
         ON CONFLICT (topic, partition) DO UPDATE SET run = s.run RETURNING run AS before`,
        values,
      );
      const before = row?.before ?? run;
      const lives = before === run || (await isAlive(tx, before));
      if (before !== run) {
        await query(
          tx,
          'UPDATE consumer_start SET run = :run, instance = :instance, started_at = :now WHERE topic = :topic AND partition = :partition',
          values,
        );
        if (lives) await forgive(tx, before, lane);
      }
      const [suspect] = await query<{ last: string | null }>(
        tx,
        'SELECT max("offset") AS last FROM record_start WHERE topic = :topic AND partition = :partition',
        values,
      );
      const last = suspect?.last ?? null;
      return { unclean: !lives, suspectUpTo: last === null ? null : BigInt(last) };
    });
  }

  /**
   * Marks a record as begun, committed before its handler is called. False: three processes ended with it in hand, each in a
   * run of its own; a fourth must not begin it. What lies before it has its outcome: within a partition one is begun after the other.
   */
  async begin(lane: Lane, offset: bigint): Promise<boolean> {
    const [row] = await this.database.query<{ starts: number }>(
      `WITH passed AS (DELETE FROM record_start WHERE topic = :topic AND partition = :partition AND "offset" < :offset)
       INSERT INTO record_start AS s (topic, partition, "offset", starts, run) VALUES (:topic, :partition, :offset, 1, :run)
       ON CONFLICT (topic, partition, "offset") DO UPDATE SET starts = s.starts + (s.run IS DISTINCT FROM :run)::int, run = :run
       RETURNING starts`,
      { ...valuesOf(lane), offset: String(offset), run: this.marker.run },
    );
    return (row?.starts ?? 1) <= MOST_STARTS;
  }

  /** What we have begun of the partition has no outcome, and did not end us either: it comes again. */
  putBack(lane: Lane): Promise<void> {
    return this.database.transaction((tx) => forgive(tx, this.marker.run, valuesOf(lane)));
  }

  /** Nothing of the partition up to this offset is suspected any more. */
  async clear(lane: Lane, offset: bigint): Promise<void> {
    await this.database.query(
      'DELETE FROM record_start WHERE topic = :topic AND partition = :partition AND "offset" <= :offset',
      { ...valuesOf(lane), offset: String(offset) },
    );
  }

  /** A clean end: nothing that is left of us says otherwise. */
  leave(): Promise<void> {
    const { run } = this.marker;
    return this.database.transaction(async (tx) => {
      await query(tx, 'DELETE FROM consumer_start WHERE run = :run', { run });
      await forgive(tx, run);
    });
  }
}

/** Not spread: its members may be accessors. */
const valuesOf = ({ topic, partition }: Lane): Lane => ({ topic, partition });

/** The last start of what this process began did not end it. */
async function forgive(tx: Tx, run: number, lane?: Lane): Promise<void> {
  const values = { run, topic: lane?.topic ?? null, partition: lane?.partition ?? null };
  const ofRun = 'run = :run AND (:topic::text IS NULL OR (topic = :topic AND partition = :partition::int))';
  await query(tx, `DELETE FROM record_start WHERE ${ofRun} AND starts <= 1`, values);
  await query(tx, `UPDATE record_start SET starts = starts - 1, run = NULL WHERE ${ofRun}`, values);
}

/** Does somebody hold the lock of that number in this database? */
async function isAlive(tx: Tx, run: number): Promise<boolean> {
  const rows = await query(
    tx,
    `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND granted AND classid = :lock::int AND objid = :run::int
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    { lock: PRESENCE_LOCK, run },
  );
  return rows.length > 0;
}
