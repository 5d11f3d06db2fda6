import { randomUUID } from 'node:crypto';
import type { Clock } from '../../../platform/clock';
import { type Database, query, type Tx } from '../../../platform/database';
import { audit, type Caller } from '../../../staff';
import type { Documents } from './documents';
import { MAX_ITEMS, type Replay, type Selection } from './replay';
import type { AdvisedBatch, Objection, ReplayAdvisors } from './replay-advice';
import type { ReplaySet, SetMember } from './replay-set';
import type { ReplayStore } from './replay-store';
import { summarize } from './plan-summary';

/** How long a plan may be started: what it says of orders and keys grows old. */
const PLAN_TTL_MS = 24 * 3_600_000;
/** Messages of one look at what rooms advise. */
const PAGE = 5_000;
/** From here on plans of statements are made without statistics of the set, which nobody has gathered yet. */
const LARGE = 1_000;

export interface PlanRequest {
  selection: Selection;
  pace: number | null;
  /** Replay also what a room advises against. */
  includeSkipped: boolean;
  by: Caller;
}

/** Makes plans: freezes a set, asks the rooms, and says what would happen. */
export class ReplayPlanner {
  constructor(
    private readonly database: Database,
    private readonly parts: { store: ReplayStore; set: ReplaySet },
    private readonly advisors: ReplayAdvisors,
    private readonly documents: Documents,
    private readonly clock: Clock,
  ) {}

  /**
   * The set stands after the first transaction; rooms are asked outside of any, since a document's schema may have to be fetched.
   * What is left half-made when the process ends is swept like a plan that nobody starts.
   */
  async plan(request: PlanRequest): Promise<Replay> {
    const id = randomUUID();
    const found = await this.database.transaction((tx) => this.freeze(tx, id, request));
    if (!request.includeSkipped) await this.askRooms(id);
    return this.database.transaction(async (tx) => {
      // Without statistics a join of 200,000 with 200,000 rows looks like one of ten with ten.
      if (found > LARGE) await query(tx, 'SET LOCAL enable_nestloop = off');
      await this.parts.set.skipPendingEdits(tx, id);
      await this.parts.set.skipBehind(tx, id);
      const { partners, ...summary } = await summarize(tx, id);
      const { ids } = request.selection;
      const unknownIds = ids === undefined ? 0 : new Set(ids).size - found;
      const truncated = found > MAX_ITEMS;
      const replay = await this.parts.store.planned(tx, id, { ...summary, unknownIds, truncated }, partners);
      const detail = { selection: replay.selection, count: summary.count, includeSkipped: request.includeSkipped };
      await audit(tx, { by: request.by, action: 'replay.plan', object: `replay/${id}`, detail }, this.clock.now());
      return replay;
    });
  }

  private async freeze(tx: Tx, id: string, { selection, pace, by }: PlanRequest): Promise<number> {
    const now = this.clock.now();
    const expiresAt = new Date(now.getTime() + PLAN_TTL_MS);
    await this.parts.store.add(tx, {
      id,
      state: 'planning',
      selection,
      pace,
      plannedBy: by,
      plannedAt: now,
      expiresAt,
    });
    return selection.ids
      ? this.parts.set.freezeNamed(tx, id, selection.ids, by.partners)
      : this.parts.set.freezeMatching(tx, id, selection, by.partners);
  }

  private async askRooms(id: string): Promise<void> {
    const { types } = this.advisors;
    if (types.length === 0) return;
    for (let after = '0'; ;) {
      const page = await this.parts.set.page(id, types, after, PAGE);
      const objections = new Map<string, Objection>();
      for (const members of Map.groupBy(page, ({ partner, type }) => `${partner} ${type}`).values()) {
        for (const [parkedId, objection] of await this.adviceOn(members)) objections.set(parkedId, objection);
      }
      await this.database.transaction((tx) => this.parts.set.object(tx, id, objections));
      const last = page.at(-1);
      if (page.length < PAGE || !last) return;
      after = last.id;
    }
  }

  private async adviceOn(members: readonly SetMember[]): Promise<ReadonlyMap<string, Objection>> {
    const [{ partner, type }] = members as [SetMember];
    const batch: AdvisedBatch = {
      partner,
      messages: members.map(({ id, key, correlationId }) => ({ id, key, correlationId })),
      documents: (ids) => this.documents.of(ids),
    };
    return (await this.advisors.of(type)?.(batch)) ?? new Map<string, Objection>();
  }
}
