import type { Lane } from '../lane';
import type { Death } from '../lanes-options';
import type { QueuedRow } from '../queued-row';

/** A row on its way into parked_outbound; its bytes stay in outbox_message. */
export interface ParkedRow {
  seq: bigint;
  topic: string;
  partition: number;
  key: string;
  messageId: string;
  state: 'waiting' | 'held' | 'dead';
  code: string | null;
  detail: string | null;
}

/** A lane that is parked with the first of its rows. */
export interface ParkedLane {
  topic: string;
  partition: number;
  code: string;
  reason: string;
}

/** What one cursor write parks: rows, and the lanes and keys that they wait for. */
export class Parking {
  readonly rows: ParkedRow[] = [];
  readonly lanes = new Map<string, ParkedLane>();

  add(lane: Lane, rows: readonly QueuedRow[], state: 'waiting' | 'held', dead: Death | undefined): void {
    const { topic, partition, parked } = lane;
    if (state === 'waiting' && parked) {
      this.lanes.set(lane.name, { topic, partition, code: parked.code, reason: parked.reason });
    }
    rows.forEach((row, index) => {
      const died = index === 0 ? dead : undefined;
      this.rows.push({
        seq: row.seq,
        topic,
        partition,
        key: row.key,
        messageId: String(row.record.headers['ce_id']),
        state: died ? 'dead' : state,
        code: died?.code ?? null,
        detail: died?.detail ?? null,
      });
    });
  }

  /** In the order of {@link PARKING_SQL}'s parameters. */
  values(firstPauseMs: number): unknown[] {
    const column = <K extends keyof ParkedRow>(name: K) => this.rows.map((row) => row[name]);
    const lanes = [...this.lanes.values()];
    return [
      ...[column('seq'), column('topic'), column('partition'), column('key'), column('messageId')],
      ...[column('state'), column('code'), column('detail')],
      ...[lanes.map((lane) => lane.topic), lanes.map((lane) => lane.partition)],
      ...[lanes.map((lane) => lane.code), lanes.map((lane) => lane.reason), firstPauseMs / 1000],
    ];
  }
}

/**
 * The part of the cursor's statement that parks. Everything is inserted from `moved`, the cursor's own UPDATE: an owner whose epoch
 * is over moves no row and so parks none, and a crash that forgets the one forgets the other. A row that is there stays as it is.
 */
export const parkingSql = (first: number): string => {
  const [seq, topic, partition, key, id, state, code, detail, laneTopic, lanePartition, laneCode, reason, pause] =
    Array.from({ length: 13 }, (_, index) => `$${first + index}`);
  return `parked AS (
      INSERT INTO parked_outbound (seq, topic, partition, key, message_id, state, code, detail, parked_at)
      SELECT r.*, clock_timestamp() FROM moved, unnest(${seq}::bigint[], ${topic}::text[], ${partition}::int[], ${key}::text[], ${id}::uuid[],
                                                       ${state}::text[], ${code}::text[], ${detail}::text[]) r
      ON CONFLICT (seq) DO NOTHING),
    lane AS (
      INSERT INTO parked_lane (topic, partition, since, code, reason, next_attempt_at)
      SELECT l.t, l.p, clock_timestamp(), l.c, l.r, clock_timestamp() + make_interval(secs => ${pause})
      FROM moved, unnest(${laneTopic}::text[], ${lanePartition}::int[], ${laneCode}::text[], ${reason}::text[]) l(t, p, c, r)
      ON CONFLICT (topic, partition) DO NOTHING),
    held AS (
      INSERT INTO parked_outbound_key (topic, partition, key)
      SELECT DISTINCT h.t, h.p, h.k FROM moved, unnest(${topic}::text[], ${partition}::int[], ${key}::text[], ${state}::text[]) h(t, p, k, s)
      WHERE h.s <> 'waiting' ON CONFLICT (topic, partition, key) DO NOTHING)`;
};
