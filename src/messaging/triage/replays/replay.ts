import type { Caller } from '../../../staff';

/**
 * `planning` its set is being looked at · `planned` frozen, may be started · `running` · `paused` nothing more is released, what is
 * released goes on · `cancelled` what was not released yet never will be · `done` every message has an end · `expired` a plan that
 * nobody started in time.
 */
export const REPLAY_STATES = ['planning', 'planned', 'running', 'paused', 'cancelled', 'done', 'expired'] as const;
export type ReplayState = (typeof REPLAY_STATES)[number];

/**
 * `planned` not released yet · `waiting` sent again, and not processed yet (with the code of its last failure, if it failed and is
 * tried again) · `processed` · `failed-again` a dead letter once more · `skipped`. The last three are ends.
 */
export const ITEM_OUTCOMES = ['planned', 'waiting', 'processed', 'failed-again', 'skipped'] as const;
export type ItemOutcome = (typeof ITEM_OUTCOMES)[number];

/** Most messages that are named by id, and most of one replay at all. */
export const MAX_IDS = 10_000;
export const MAX_ITEMS = 200_000;

/** Which dead letters: those named, or those that all given members say. */
export interface Selection {
  ids?: readonly string[] | undefined;
  partner?: string | undefined;
  topic?: string | undefined;
  /** A contract's name, or its CloudEvents type. */
  contract?: string | undefined;
  code?: string | undefined;
  fingerprint?: string | undefined;
  order?: string | undefined;
  /** Their last failure: from, and before. RFC 3339. */
  since?: string | undefined;
  until?: string | undefined;
}

/** Messages that will not be replayed, and why. */
export interface SkippedGroup {
  code: string;
  detail: string;
  count: number;
  /** The first ids. */
  samples: string[];
}

/** What would happen, as it stood when the set was frozen. */
export interface ReplayPlan {
  /** How many would be sent again. */
  count: number;
  byPartner: { partner: string; count: number }[];
  /** First failure of the oldest, RFC 3339. */
  oldest: string | null;
  skipped: SkippedGroup[];
  /** Later messages of the keys, which follow by themselves. */
  heldBehind: { keys: number; messages: number; samples: { partner: string; key: string; messages: number }[] };
  /** Ids that name no message, or none that the caller may see. */
  unknownIds: number;
  /** There are more than a replay holds: these are the oldest. */
  truncated: boolean;
}

/** Who did it. */
export type Person = Pick<Caller, 'id' | 'name'>;

export interface Replay {
  id: string;
  state: ReplayState;
  /** As asked for; of named ids only how many. */
  selection: Omit<Selection, 'ids'> & { ids?: number };
  /** Null while it is being planned. */
  plan: ReplayPlan | null;
  reason: string | null;
  /** Messages per second; null: as fast as it goes. */
  pace: number | null;
  plannedBy: Person;
  plannedAt: Date;
  expiresAt: Date | null;
  startedBy: Person | null;
  startedAt: Date | null;
  endedAt: Date | null;
}

/** Codes of what is skipped, in words. A room's advice brings its own. */
export const SKIPPED: Readonly<Record<string, string>> = {
  'not-dead': 'It is not a dead letter any more.',
  behind: 'An earlier dead letter of its key is not sent before it, and holds it.',
  'edit-pending': 'An edit of it waits for a second person.',
  cancelled: 'The replay was cancelled before it was its turn.',
};
