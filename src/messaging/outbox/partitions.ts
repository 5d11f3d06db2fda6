import type { QueryRunner } from 'typeorm';
import type { Database } from '../../platform/database';
import { SEQUENCE_POSITION } from './read-query';

/** Held while partitions are made or dropped, by whichever role does it. */
const PARTITION_LOCK = 7_275_392;
const AHEAD = 4;

export interface PartitionPolicy {
  /** Rows of a new partition. */
  rows: number;
  /** Sent rows are kept at least this long, ms. Unsent ones never expire. */
  retentionMs: number;
}

/** What a pass did, for the log. */
export interface PartitionPass {
  created: string[];
  dropped: string[];
  /** Partitions that looked sent but hold rows that the cursor has not seen: kept, and a reason for an alarm. */
  refused: string[];
}

interface Partition {
  /** Lower bound, which also names it. */
  from: bigint;
  to: bigint;
  /** Left half detached by a pass that was interrupted. */
  pending: boolean;
}

/**
 * Keeps four empty partitions ahead of the number sequence, since inserts fail without one. Any role calls it, at start and
 * now and then. CREATE, then ATTACH, so that writers are never blocked. Returns the names of new ones.
 */
export function ensurePartitions(database: Database, policy: Pick<PartitionPolicy, 'rows'>): Promise<string[]> {
  return locked(database, (runner) => createAhead(runner, policy.rows));
}

/** {@link ensurePartitions}, and drops partitions that are wholly sent and older than the retention, with their receipts. */
export function maintainPartitions(database: Database, policy: PartitionPolicy, now: Date): Promise<PartitionPass> {
  return locked(database, async (runner) => {
    const created = await createAhead(runner, policy.rows);
    const pass: PartitionPass = { created, dropped: [], refused: [] };
    await finishDropping(runner, pass);
    for (const partition of await expired(runner, new Date(now.getTime() - policy.retentionMs))) {
      ((await dropSent(runner, partition)) ? pass.dropped : pass.refused).push(nameOf('message', partition.from));
    }
    return pass;
  });
}

async function locked<T>(database: Database, work: (runner: QueryRunner) => Promise<T>): Promise<T> {
  const runner = database.dataSource.createQueryRunner();
  try {
    // A session's lock, since DETACH CONCURRENTLY runs in no transaction.
    await runner.query('SELECT pg_advisory_lock($1)', [PARTITION_LOCK]);
    try {
      return await work(runner);
    } finally {
      await runner.query('SELECT pg_advisory_unlock($1)', [PARTITION_LOCK]);
    }
  } finally {
    await runner.release();
  }
}

type Table = 'message' | 'receipt';

const nameOf = (table: Table, from: bigint) => `outbox_${table}_p${from}`;

async function list(runner: QueryRunner, table: Table): Promise<Partition[]> {
  const rows = (await runner.query(
    `SELECT pg_get_expr(c.relpartbound, c.oid) AS bound, i.inhdetachpending AS pending
     FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'outbox_${table}'::regclass`,
  )) as { bound: string; pending: boolean }[];
  return rows
    .map(({ bound, pending }) => {
      const match = /FROM \('(\d+)'\) TO \('(\d+)'\)/.exec(bound);
      if (!match) throw new Error(`outbox_${table} has a partition with the bound ${bound}`);
      return { from: BigInt(match[1] ?? 0), to: BigInt(match[2] ?? 0), pending };
    })
    .sort((a, b) => (a.from < b.from ? -1 : 1));
}

async function createAhead(runner: QueryRunner, rows: number): Promise<string[]> {
  const [sequence] = (await runner.query(SEQUENCE_POSITION)) as Record<string, string>[];
  const nextSeq = BigInt(Object.values(sequence ?? {})[0] ?? 0) + 1n;
  const partitions = await list(runner, 'message');
  let from = partitions.at(-1)?.to ?? nextSeq;
  let ahead = partitions.filter((partition) => partition.from > nextSeq).length;
  const created: string[] = [];
  while (ahead < AHEAD) {
    await create(runner, { from, to: from + BigInt(rows) });
    created.push(nameOf('message', from));
    // The one that takes the next number is not ahead of it.
    if (from > nextSeq) ahead++;
    from += BigInt(rows);
  }
  return created;
}

async function create(runner: QueryRunner, { from, to }: { from: bigint; to: bigint }): Promise<void> {
  await runner.startTransaction();
  try {
    await runner.query(`SET LOCAL lock_timeout = '5s'`);
    for (const table of ['message', 'receipt'] as const) {
      const name = nameOf(table, from);
      await runner.query(
        `CREATE TABLE ${name} (LIKE outbox_${table} INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING INDEXES)`,
      );
      await runner.query(`ALTER TABLE outbox_${table} ATTACH PARTITION ${name} FOR VALUES FROM (${from}) TO (${to})`);
    }
    await runner.commitTransaction();
  } catch (error) {
    await runner.rollbackTransaction();
    throw error;
  }
}

/**
 * A pass may be cut off, by a crash or because somebody reads for longer than a statement may wait, at each of its steps: while a
 * partition is detached, and before the detached table is dropped. What it began is finished; nothing else would ever see that table.
 */
async function finishDropping(runner: QueryRunner, pass: PartitionPass): Promise<void> {
  for (const table of ['message', 'receipt'] as const) {
    for (const { from, pending } of await list(runner, table)) {
      if (!pending) continue;
      await runner.query(`ALTER TABLE outbox_${table} DETACH PARTITION ${nameOf(table, from)} FINALIZE`);
    }
  }
  const receipts = await list(runner, 'receipt');
  const detached = (await runner.query(
    `SELECT substr(relname, 17) AS "from" FROM pg_class
     WHERE relname ~ '^outbox_message_p[0-9]+$' AND relkind = 'r' AND NOT relispartition AND pg_table_is_visible(oid)`,
  )) as { from: string }[];
  for (const from of detached.map((row) => BigInt(row.from))) {
    const to = receipts.find((receipt) => receipt.from === from)?.to;
    ((await dropDetached(runner, from, to)) ? pass.dropped : pass.refused).push(nameOf('message', from));
  }
}

/**
 * Partitions that end at or below the floor of everything unsent, hold nothing that is parked, and whose youngest message is older than
 * `before`.
 */
async function expired(runner: QueryRunner, before: Date): Promise<Partition[]> {
  const [cursor] = (await runner.query('SELECT floor_xmin FROM outbox_cursor')) as { floor_xmin: string }[];
  const floor = BigInt(cursor?.floor_xmin ?? 0);
  const found: Partition[] = [];
  for (const partition of await list(runner, 'message')) {
    if (partition.pending || partition.to - 1n > floor) continue;
    const [youngest] = (await runner.query(
      `SELECT time < $1 AS old FROM ${nameOf('message', partition.from)} ORDER BY seq DESC LIMIT 1`,
      [before],
    )) as { old: boolean }[];
    if ((youngest?.old ?? true) && !(await holdsParked(runner, partition))) found.push(partition);
  }
  return found;
}

/** DETACH CONCURRENTLY blocks neither writers nor the relay; it waits for transactions that use the table. */
async function dropSent(runner: QueryRunner, partition: Partition): Promise<boolean> {
  if (await holdsUnsent(runner, partition.from)) return false;
  await runner.query(`ALTER TABLE outbox_message DETACH PARTITION ${nameOf('message', partition.from)} CONCURRENTLY`);
  return dropDetached(runner, partition.from, partition.to);
}

/**
 * Looks once more, at the table alone, now that nobody can write into it. What must not be dropped is put back; without an upper
 * bound its receipts are gone, and so it was found to be sent before. To drop an attached partition would lock its parent, and
 * behind that lock the cursor could not write its receipts: they are detached like the messages, whose table goes last.
 */
async function dropDetached(runner: QueryRunner, from: bigint, to: bigint | undefined): Promise<boolean> {
  const [message, receipt] = [nameOf('message', from), nameOf('receipt', from)];
  if (to !== undefined) {
    if (await holdsUnsent(runner, from)) {
      await runner.query(`ALTER TABLE outbox_message ATTACH PARTITION ${message} FOR VALUES FROM (${from}) TO (${to})`);
      return false;
    }
    await runner.query(`ALTER TABLE outbox_receipt DETACH PARTITION ${receipt} CONCURRENTLY`);
  }
  // What staff discarded is settled; it goes with its message.
  await runner.query(
    `DELETE FROM parked_outbound USING ${message} m WHERE parked_outbound.seq = m.seq AND state = 'discarded'`,
  );
  await runner.query(`DROP TABLE IF EXISTS ${receipt}`);
  await runner.query(`DROP TABLE ${message}`);
  return true;
}

/** The bytes of what is parked are here alone, and nothing unsettled expires. */
async function holdsParked(runner: QueryRunner, { from, to }: Partition): Promise<boolean> {
  const [row] = (await runner.query(
    `SELECT EXISTS (SELECT FROM parked_outbound WHERE seq >= $1 AND seq < $2 AND state <> 'discarded') AS parked`,
    [from, to],
  )) as { parked: boolean }[];
  return row?.parked ?? true;
}

/** Does it hold a row that the cursor does not cover, or one that is parked? Rows from another cluster are judged by their number: their ids mean nothing here. */
async function holdsUnsent(runner: QueryRunner, from: bigint): Promise<boolean> {
  const [row] = (await runner.query(
    `SELECT EXISTS (SELECT FROM ${nameOf('message', from)} m, outbox_cursor c
       WHERE CASE WHEN m.seq <= c.foreign_upto THEN c.win IS NOT NULL AND c.hi <= c.foreign_upto AND m.seq > c.last_seq
                  ELSE NOT pg_visible_in_snapshot(m.xid, c.done) END)
     OR EXISTS (SELECT FROM ${nameOf('message', from)} m JOIN parked_outbound p ON p.seq = m.seq WHERE p.state <> 'discarded') AS unsent`,
  )) as { unsent: boolean }[];
  return row?.unsent ?? true;
}
