import { orderResponse, typeOf } from '../../../../src/contracts';
import type { Config } from '../../../../src/platform/config';
import { StaffDesk } from '../../../../src/messaging/consumer';
import { JsonCodec } from '../../../../src/messaging/registry';
import { DocumentReader } from '../../../../src/messaging/triage/document-reader';
import { Documents } from '../../../../src/messaging/triage/replays/documents';
import { Releaser } from '../../../../src/messaging/triage/replays/releaser';
import { ReleaseStep } from '../../../../src/messaging/triage/replays/release-step';
import type { ItemOutcome, Replay, Selection } from '../../../../src/messaging/triage/replays/replay';
import { ReplayAdvisors } from '../../../../src/messaging/triage/replays/replay-advice';
import { ReplayList } from '../../../../src/messaging/triage/replays/replay-list';
import { ReplayPlanner } from '../../../../src/messaging/triage/replays/replay-planner';
import { ReplayRunner } from '../../../../src/messaging/triage/replays/replay-runner';
import { ReplaySet } from '../../../../src/messaging/triage/replays/replay-set';
import { ReplayStore } from '../../../../src/messaging/triage/replays/replay-store';
import { Replays } from '../../../../src/messaging/triage/replays/replays';
import type { Clock } from '../../../../src/platform/clock';
import { type Database } from '../../../../src/platform/database';
import type { Caller } from '../../../../src/staff';
import { logger, type World } from '../../consumer/harness';

export { addPartner, openWorld, type World } from '../../consumer/harness';

export const caller = (change: Partial<Caller> = {}): Caller => ({
  id: 'key_1',
  name: 'ann',
  role: 'operator',
  areas: null,
  partners: null,
  origin: '127.0.0.1',
  ...change,
});

export interface ReplayRoom {
  replays: Replays;
  list: ReplayList;
  advisors: ReplayAdvisors;
  step: ReleaseStep;
  runner: ReplayRunner;
}

/** A clock that a test moves. */
export class TestClock implements Clock {
  constructor(private at = new Date()) {}
  now(): Date {
    return this.at;
  }
  add(ms: number): void {
    this.at = new Date(this.at.getTime() + ms);
  }
}

export const CONSUMER = { roles: ['consumer'], deadLetterRetentionDays: 90 } satisfies Pick<
  Config,
  'roles' | 'deadLetterRetentionDays'
>;

/** Replays over this world, the runner not started: tests take its steps one by one. */
export function replayRoom(
  world: World,
  database: Database = world.database,
  clock: Clock = new TestClock(),
): ReplayRoom {
  const store = new ReplayStore();
  const set = new ReplaySet(database);
  const advisors = new ReplayAdvisors();
  const documents = new Documents(database, new DocumentReader(new JsonCodec(), world.channels));
  const planner = new ReplayPlanner(database, { store, set }, advisors, documents, clock);
  const releaser = new Releaser(new StaffDesk());
  const step = new ReleaseStep(database, releaser);
  return {
    replays: new Replays(database, { store, set, planner, releaser }, clock),
    list: new ReplayList(database),
    advisors,
    step,
    runner: new ReplayRunner(database, step, CONSUMER, clock, logger),
  };
}

export const planOf = (
  { replays }: ReplayRoom,
  selection: Selection,
  by = caller(),
  pace: number | null = null,
): Promise<Replay> => replays.plan({ selection, pace, includeSkipped: false, by });

export const startOf = ({ replays }: ReplayRoom, planId: string, by = caller(), pace?: number): Promise<Replay> =>
  replays.start({ planId, pace, reason: 'healed', by });

export interface Letters {
  count: number;
  /** `{n}` is replaced by the number of the message; null: none. Default: a key of its own for each. */
  key?: string | null;
  state?: 'dead' | 'held' | 'waiting' | 'processed';
  code?: string;
  value?: unknown;
  correlationId?: string;
}

let drawn = 0;

/** Parked messages of a partner that {@link addPartner} added, as the consumer leaves them; returns their ids in order. */
export async function park(world: World, partner: string, letters: Letters): Promise<string[]> {
  const {
    count,
    key = `k${++drawn}-{n}`,
    state = 'dead',
    code = 'handler-failed',
    value = {},
    correlationId,
  } = letters;
  const now = new Date();
  return world.database.transaction(async (tx) => {
    const rows = await tx.query<{ id: string }[]>(
      `WITH added AS (
         INSERT INTO parked_inbound (partner, key, state, channel_id, inbox_id, topic, partition, "offset", record_time, message_id, type, correlation_id,
           raw_key, raw_value, header_names, header_values, code, fingerprint, attempts, next_attempt_at, parked_at, first_failed_at, last_failed_at, holds, resolved_at)
         SELECT $1, replace($2, '{n}', n::text), $3, c.id, 'p' || $8 || '-' || n, c.topic, 0, n, $6, 'p' || $8 || '-' || n, $4, $9, convert_to(replace($2, '{n}', n::text), 'UTF8'), convert_to($7, 'UTF8'),
           ARRAY[convert_to('ce_id', 'UTF8'), convert_to('ce_type', 'UTF8')], ARRAY[convert_to('p' || $8 || '-' || n, 'UTF8'), convert_to($4, 'UTF8')],
           $5, $5, 12, CASE WHEN $3 = 'waiting' THEN $6::timestamptz + interval '1 hour' END, $6, $6, $6, $2 IS NOT NULL, CASE WHEN $3 = 'processed' THEN $6::timestamptz END
         FROM channel c, generate_series(1, $10) n WHERE c.partner = $1 AND c.topic = $11 ORDER BY n RETURNING id, channel_id, key, state
       ), keys AS (
         INSERT INTO parked_key (channel_id, key, since) SELECT DISTINCT channel_id, key, $6::timestamptz FROM added
         WHERE key IS NOT NULL AND state <> 'processed' ON CONFLICT DO NOTHING
       ) SELECT id FROM added ORDER BY id`,
      [
        partner,
        key,
        state,
        typeOf(orderResponse),
        code,
        now,
        JSON.stringify(value),
        ++drawn,
        correlationId ?? null,
        count,
        `orders.${partner}.response.v1`,
      ],
    );
    return rows.map(({ id }) => id);
  });
}

export async function outcomesOf(
  { database }: World,
  replayId: string,
): Promise<[id: string, outcome: ItemOutcome, code: string | null][]> {
  const rows = await database.query<{ id: string; outcome: ItemOutcome; code: string | null }>(
    'SELECT parked_id AS id, outcome, code FROM replay_item WHERE replay_id = :replayId ORDER BY parked_id',
    { replayId },
  );
  return rows.map(({ id, outcome, code }) => [id, outcome, code]);
}

/** Ids of what was given to the drain, in the order of their ids. */
export async function releasedIds({ database }: World, replayId: string): Promise<string[]> {
  const rows = await database.query<{ id: string }>(
    `SELECT id FROM parked_inbound WHERE replay_id = :replayId AND state <> 'dead' ORDER BY id`,
    { replayId },
  );
  return rows.map(({ id }) => id);
}
