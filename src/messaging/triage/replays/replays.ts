import { randomUUID } from 'node:crypto';
import type { Clock } from '../../../platform/clock';
import { type Database, LostRace, query, type Tx } from '../../../platform/database';
import { audit, type Caller, reaches } from '../../../staff';
import type { PlanRequest, ReplayPlanner } from './replay-planner';
import type { Replay, ReplayState } from './replay';
import { parkedNotDead, parkedUnknown } from '../refusals';
import { summarize } from './plan-summary';
import type { ReplaySet } from './replay-set';
import type { ReplayStore } from './replay-store';
import {
  cancelNotAllowed,
  groupNotAllowed,
  notReleased,
  planExpired,
  planGone,
  replayUnknown,
  stateRefused,
} from './refusals';
import type { Releaser } from './releaser';

/** More than this part of a plan gone: then it is no longer what somebody agreed to. */
const TOLERATED = 0.1;

export interface StartRequest {
  planId: string;
  /** Undefined: as planned. */
  pace: number | undefined;
  reason: string;
  by: Caller;
}

export interface ReplayParts {
  store: ReplayStore;
  set: ReplaySet;
  planner: ReplayPlanner;
  releaser: Releaser;
}

/** A change of a replay's state; `done`: the verb as it reads when it is refused. */
interface Move {
  from: readonly ReplayState[];
  to: ReplayState;
  verb: 'pause' | 'resume' | 'cancel';
  done: string;
}

/** Replays as governed jobs. What is released, and when, is the runner's. */
export class Replays {
  constructor(
    private readonly database: Database,
    private readonly parts: ReplayParts,
    private readonly clock: Clock,
  ) {}

  /** Freezes a set of dead letters and says what replaying them would do. Nothing is sent. */
  plan(request: PlanRequest): Promise<Replay> {
    return this.parts.planner.plan(request);
  }

  /**
   * Starts a plan, once: whoever starts it again gets the same replay. Never sends more than the plan said. Throws
   * `replay-unknown`, `plan-changed`, `replay-state`, and `forbidden` for several messages where support may replay one.
   */
  start({ planId, pace, reason, by }: StartRequest): Promise<Replay> {
    return this.database.transaction(async (tx) => {
      const replay = await this.lock(tx, planId, by);
      const { state, plan } = replay;
      if (state === 'running' || state === 'paused' || state === 'done') return replay;
      const now = this.clock.now();
      if (state === 'expired' || (replay.expiresAt !== null && replay.expiresAt < now)) throw planExpired();
      if (state !== 'planned' || plan === null) throw stateRefused('started', state);
      if (plan.count > 1 && !reaches(by.role, 'operator')) throw groupNotAllowed(plan.count);
      const gone = await this.parts.set.gone(tx, planId);
      if (gone > plan.count * TOLERATED) throw planGone(gone, plan.count);
      const started = await this.parts.store.start(tx, planId, { by, reason, pace: pace ?? replay.pace, now });
      const detail = { count: plan.count, selection: replay.selection, pace: started.pace };
      await audit(tx, { by, action: 'replay.start', object: `replay/${planId}`, reason, detail }, now);
      return started;
    });
  }

  /** Stops releasing; what is released goes on. Throws `replay-unknown`, `replay-state`. */
  pause(id: string, by: Caller, reason: string): Promise<Replay> {
    return this.move(id, { from: ['running'], to: 'paused', verb: 'pause', done: 'paused' }, by, reason);
  }

  resume(id: string, by: Caller, reason: string): Promise<Replay> {
    return this.move(id, { from: ['paused'], to: 'running', verb: 'resume', done: 'resumed' }, by, reason);
  }

  /**
   * What was not released is skipped; what is released goes on, and its outcome is still recorded. Throws `replay-unknown`, `replay-state`, and
   * `forbidden` where support calls off more than a plan of its own.
   */
  cancel(id: string, by: Caller, reason: string): Promise<Replay> {
    return this.move(
      id,
      { from: ['planned', 'running', 'paused'], to: 'cancelled', verb: 'cancel', done: 'cancelled' },
      by,
      reason,
    );
  }

  /**
   * Replays one dead letter at once, as a replay of one message, and returns the replay's id; audited. Who asks again while it
   * waits gets the same replay. Throws `parked-unknown`, `parked-not-dead`, `edit-pending`, `replay-behind`.
   */
  async replayOne(
    tx: Tx,
    { parkedId, by, reason }: { parkedId: string; by: Caller; reason: string },
    now: Date,
  ): Promise<string> {
    const [row] = await query<{ partner: string; state: string; replayId: string | null }>(
      tx,
      `SELECT partner, state, replay_id AS "replayId" FROM parked_inbound
       WHERE id = :parkedId AND (:partners::text[] IS NULL OR partner = ANY(:partners::text[]))`,
      { parkedId, partners: by.partners },
    );
    if (!row) throw parkedUnknown();
    if ((row.state === 'waiting' || row.state === 'held') && row.replayId !== null) return row.replayId;
    if (row.state !== 'dead') throw parkedNotDead(row.state);
    const id = randomUUID();
    const { store, set, releaser } = this.parts;
    const base = { id, selection: { ids: [parkedId] }, pace: null, plannedBy: by, plannedAt: now, expiresAt: null };
    await store.add(tx, { ...base, state: 'planning' });
    await set.freezeNamed(tx, id, [parkedId], null);
    const { partners, ...summary } = await summarize(tx, id);
    await store.planned(tx, id, { ...summary, unknownIds: 0, truncated: false }, partners);
    const result = (await releaser.release(tx, id, [parkedId], now)).get(parkedId);
    // Somebody was faster: the next look says who.
    if (result === 'not-dead' || result === undefined) throw new LostRace('the message was dead a moment ago');
    if (result !== 'released') throw notReleased(result);
    await store.start(tx, id, { by, reason, pace: null, now });
    const object = `replay/${id}`;
    await audit(
      tx,
      { by, action: 'replay.start', object, partner: row.partner, reason, detail: { message: parkedId } },
      now,
    );
    return id;
  }

  private move(id: string, { from, to, verb, done }: Move, by: Caller, reason: string): Promise<Replay> {
    return this.database.transaction(async (tx) => {
      const replay = await this.lock(tx, id, by);
      if (replay.state === to) return replay;
      if (!from.includes(replay.state)) throw stateRefused(done, replay.state);
      if (to === 'cancelled' && !mayCancel(replay, by)) throw cancelNotAllowed();
      const now = this.clock.now();
      if (to === 'cancelled') await this.parts.set.skipRest(tx, id);
      const moved = await this.parts.store.move(tx, id, to, to === 'cancelled' ? now : null);
      await audit(tx, { by, action: `replay.${verb}`, object: `replay/${id}`, reason }, now);
      return moved;
    });
  }

  private async lock(tx: Tx, id: string, by: Caller): Promise<Replay> {
    const replay = await this.parts.store.lock(tx, id, by);
    if (!replay) throw replayUnknown();
    return replay;
  }
}

/** A plan that has not started is also its maker's to take back. */
const mayCancel = ({ state, plannedBy }: Replay, { id, role }: Caller): boolean =>
  reaches(role, 'operator') || (state === 'planned' && plannedBy.id === id);
