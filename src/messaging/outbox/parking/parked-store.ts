import type { Client } from 'pg';
import { LeaseLostError } from '../cursor';
import { rowsSql } from '../read-query';
import { type QueuedRow, type RawRow, toQueuedRow } from '../queued-row';
import { receiptSql, receiptValues, type Run } from '../receipt-runs';
import type { StopCode } from './reasons';

export interface LaneId {
  topic: string;
  partition: number;
}

export interface KeyId extends LaneId {
  key: string;
}

/** What the owner has to look at now. */
export interface Due {
  /** `at`: what the row said. What staff have written since is not overwritten; see {@link ParkedStore.keyWaits}. */
  lanes: (LaneId & { at: string })[];
  keys: (KeyId & { at: string })[];
  /** Outbound topics of partners to whom nothing is sent now. */
  stopped: Map<string, PartnerStop>;
}

/** Why nothing is sent to a partner. */
export interface PartnerStop {
  code: StopCode;
  /** Since when, and what staff said. */
  words: string;
}

/** The next parked rows of a lane or a key. */
export interface ParkedPage {
  rows: QueuedRow[];
  /** No row stands behind them. */
  last: boolean;
  /** Is the first one a dead letter that staff have not decided on? Then there are no rows. */
  dead: boolean;
  /** The first one has no row in the outbox any more, which nothing but a hand in the database can do. Then there are no rows. */
  missing?: { seq: bigint; key: string };
}

interface Head {
  seq: string;
  key: string;
  state: string;
  replay_id: string | null;
  replay_by: string | null;
  replay_attempt: string;
}

const STOP_WORDS = `concat_ws(': ', 'since ' || to_char(p.state_since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), p.state_reason)`;

/** One batch of the drain; what fits into a lane's batch is decided there. */
const PAGE = { rows: 500, bytes: 800_000 };
/** Only the owner reads past this line; a row locked here can't be taken by the next owner before we commit. */
const OURS = (epoch: bigint) => `ours AS (SELECT 1 FROM outbox_cursor WHERE epoch = ${epoch} FOR SHARE)`;

/**
 * The owner's side of parked lanes. Each method is one statement that checks the epoch where it changes anything, and throws
 * {@link LeaseLostError} when it is over. The caller runs them one after another on the writing connection, behind the cursor's
 * writes: what one parked, the next one finds.
 */
export class ParkedStore {
  constructor(
    private readonly client: Client,
    private readonly epoch: bigint,
    private readonly source: string,
  ) {}

  /** Everything that waits, for a new owner. Read after the lease is taken: nobody else parks from then on. */
  async load(): Promise<{ lanes: (LaneId & { code: string; reason: string })[]; keys: KeyId[] }> {
    type Row = { topic: string; partition: string; code: string; reason: string; key: string };
    const lanes = await this.client.query<Row>('SELECT topic, partition, code, reason FROM parked_lane');
    const keys = await this.client.query<Row>('SELECT topic, partition, key FROM parked_outbound_key');
    return { lanes: lanes.rows.map(toNumber), keys: keys.rows.map(toNumber) };
  }

  /** Three small tables, whatever number of rows waits behind them. */
  async due(): Promise<Due> {
    const { rows } = await this.client.query<{
      topic: string;
      partition: string | null;
      key: string | null;
      at: string;
      code: StopCode;
    }>(
      `SELECT topic, partition, NULL AS key, next_attempt_at::text AS at, NULL AS code FROM parked_lane WHERE next_attempt_at <= clock_timestamp()
       UNION ALL SELECT topic, partition, key, next_attempt_at::text, NULL FROM parked_outbound_key WHERE next_attempt_at <= clock_timestamp()
       UNION ALL SELECT c.topic, NULL, NULL, ${STOP_WORDS}, 'partner-' || p.state FROM channel c JOIN partner p ON p.id = c.partner
                 WHERE p.state <> 'active' AND c.direction = 'out'`,
    );
    const due: Due = { lanes: [], keys: [], stopped: new Map() };
    for (const { topic, partition, key, at, code } of rows) {
      if (partition === null) due.stopped.set(topic, { code, words: at });
      else if (key === null) due.lanes.push({ topic, partition: Number(partition), at });
      else due.keys.push({ topic, partition: Number(partition), key, at });
    }
    return due;
  }

  /** Rows that wait for their lane, in `seq` order, which within a key is the order of commits. */
  async nextOfLane({ topic, partition }: LaneId): Promise<ParkedPage> {
    const { rows } = await this.client.query<Head>(
      `SELECT seq, key, state, replay_id, replay_by, replay_attempt FROM parked_outbound
       WHERE topic = $1 AND partition = $2 AND state = 'waiting' ORDER BY seq LIMIT ${PAGE.rows + 1}`,
      [topic, partition],
    );
    return this.page(rows, rows.length > PAGE.rows);
  }

  /** Rows of a key up to the next dead letter that nobody has decided on. */
  async nextOfKey({ topic, partition, key }: KeyId): Promise<ParkedPage> {
    const { rows } = await this.client.query<Head>(
      `SELECT seq, key, state, replay_id, replay_by, replay_attempt FROM parked_outbound
       WHERE topic = $1 AND partition = $2 AND key = $3 AND state <> 'discarded' ORDER BY seq LIMIT ${PAGE.rows + 1}`,
      [topic, partition, key],
    );
    const dead = rows.findIndex((row) => row.state === 'dead');
    const free = dead < 0 ? rows : rows.slice(0, dead);
    return { ...(await this.page(free, free.length < rows.length || rows.length > PAGE.rows)), dead: dead === 0 };
  }

  /** The broker has these rows: they are parked no longer, and their receipts say where they are. */
  async sent(seqs: readonly bigint[], runs: readonly Run[]): Promise<void> {
    await this.change(
      `${receiptSql(2)}, gone AS (DELETE FROM parked_outbound USING ours WHERE seq = ANY($1::bigint[]))`,
      [seqs, ...receiptValues(runs)],
    );
  }

  /** The broker will not take this one: it is dead, and what waits of its key is held behind it. */
  async died(row: { seq: bigint } & KeyId, code: string, detail: string): Promise<void> {
    await this.change(
      `dead AS (UPDATE parked_outbound SET state = 'dead', code = $5, detail = $6 FROM ours WHERE seq = $1),
       behind AS (UPDATE parked_outbound SET state = 'held' FROM ours
                  WHERE topic = $2 AND partition = $3 AND key = $4 AND seq > $1 AND state = 'waiting'),
       held AS (INSERT INTO parked_outbound_key (topic, partition, key) SELECT $2, $3, $4 FROM ours
                ON CONFLICT (topic, partition, key) DO NOTHING)`,
      [row.seq, row.topic, row.partition, row.key, code, detail],
    );
  }

  /** The next attempt of a lane that failed; the one that staff have asked for since `at` was read stays. */
  async laneFailed(
    { topic, partition }: LaneId,
    { code, reason }: { code: string; reason: string },
    at: string | undefined,
    pauseMs: (attempt: number) => number,
  ): Promise<void> {
    const { rows } = await this.client.query<{ attempts: string }>(
      'SELECT attempts FROM parked_lane WHERE topic = $1 AND partition = $2',
      [topic, partition],
    );
    const attempts = Number(rows[0]?.attempts ?? 0) + 1;
    await this.change(
      `lane AS (UPDATE parked_lane SET attempts = $3, code = $4, reason = $5, next_attempt_at =
                  CASE WHEN next_attempt_at = coalesce($7::timestamptz, next_attempt_at)
                       THEN clock_timestamp() + make_interval(secs => $6) ELSE next_attempt_at END
                FROM ours WHERE topic = $1 AND partition = $2)`,
      [topic, partition, attempts, code, reason, pauseMs(attempts) / 1000, at ?? null],
    );
  }

  /** The lane waits for something else now. */
  async restate({ topic, partition }: LaneId, { code, reason }: { code: string; reason: string }): Promise<void> {
    await this.change(
      `lane AS (UPDATE parked_lane SET code = $3, reason = $4 FROM ours WHERE topic = $1 AND partition = $2)`,
      [topic, partition, code, reason],
    );
  }

  /** Ends the parking of a lane; false when a row still waits for it. */
  unpark({ topic, partition }: LaneId): Promise<boolean> {
    return this.end('parked_lane', `state = 'waiting'`, [topic, partition]);
  }

  /** Lets a key go; false when a row of it is still unsettled. */
  release({ topic, partition, key }: KeyId): Promise<boolean> {
    return this.end(
      'parked_outbound_key',
      `state <> 'discarded' AND key = $3`,
      [topic, partition, key],
      'AND t.key = $3',
    );
  }

  /** A dead letter holds the key: nothing is due until staff decide. What they decided since `at` was read stays due. */
  async keyWaits({ topic, partition, key }: KeyId, at: string): Promise<void> {
    await this.keyDue([topic, partition, key, at], 'NULL');
  }

  async keyLater({ topic, partition, key }: KeyId, at: string, pauseMs: number): Promise<void> {
    await this.keyDue([topic, partition, key, at, pauseMs / 1000], 'clock_timestamp() + make_interval(secs => $5)');
  }

  private async keyDue(values: unknown[], when: string): Promise<void> {
    await this.change(
      `k AS (UPDATE parked_outbound_key SET next_attempt_at = ${when} FROM ours
             WHERE topic = $1 AND partition = $2 AND key = $3 AND next_attempt_at = $4::timestamptz)`,
      values,
    );
  }

  private async end(table: string, unsettled: string, values: unknown[], also = ''): Promise<boolean> {
    const left = `EXISTS (SELECT FROM parked_outbound WHERE topic = $1 AND partition = $2 AND ${unsettled})`;
    const [row] = await this.change<{ is_left: boolean }>(
      `gone AS (DELETE FROM ${table} t USING ours WHERE t.topic = $1 AND t.partition = $2 ${also} AND NOT ${left})`,
      values,
      `${left}::text`,
    );
    return String(row?.is_left) !== 'true';
  }

  private async change<Row>(ctes: string, values: unknown[], value = 'NULL'): Promise<Row[]> {
    const { rows } = await this.client.query<Row & { ours: string }>(
      `WITH ${OURS(this.epoch)}, ${ctes} SELECT (SELECT count(*) FROM ours) AS ours, ${value} AS is_left`,
      values,
    );
    if (rows[0]?.ours !== '1') throw new LeaseLostError();
    return rows;
  }

  private async page(heads: readonly Head[], more: boolean): Promise<ParkedPage> {
    if (heads.length === 0) return { rows: [], last: !more, dead: false };
    const found = heads.slice(0, PAGE.rows);
    const { rows } = await this.client.query({
      text: rowsSql(
        found.map((head) => BigInt(head.seq)),
        PAGE,
      ),
      rowMode: 'array',
    });
    const raw = rows as unknown as RawRow[];
    const [head] = found;
    if (head && raw[0]?.[1] !== head.seq) {
      return { rows: [], last: false, dead: false, missing: { seq: BigInt(head.seq), key: head.key } };
    }
    const bySeq = new Map(found.map((head) => [head.seq, head]));
    // Nothing else counts these rows: the cursor has gone over them.
    const read = { left: 0 };
    const queued = raw.map((row) => withReplay(toQueuedRow(row, this.source, read), bySeq.get(row[1])));
    return { rows: queued, last: !more && queued.length === found.length, dead: false };
  }
}

/** A message that staff have sent again keeps its id and says so. */
function withReplay(row: QueuedRow, head: Head | undefined): QueuedRow {
  if (!head?.replay_id) return row;
  const replay = {
    'parley-replay-id': head.replay_id,
    'parley-replay-by': head.replay_by ?? '',
    'parley-replay-attempt': head.replay_attempt,
  };
  return { ...row, record: { ...row.record, headers: { ...row.record.headers, ...replay } } };
}

const toNumber = <Row extends { partition: string }>(row: Row) => ({ ...row, partition: Number(row.partition) });
