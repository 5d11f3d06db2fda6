/** Each may what the one before it may: look · work on single messages and groups · change what happens to them, place orders · keys and channels. */
export const ROLES = ['viewer', 'support', 'operator', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** Parts of the API; a caller may be confined to some of them. `failures`: dead letters, groups, replays, parked messages, channels. */
export const AREAS = ['orders', 'shipments', 'failures', 'outbox', 'partners', 'notifications', 'staff'] as const;
export type Area = (typeof AREAS)[number];

/** How the id of a partner reads; staff know nothing else of partners. */
export const PARTNER_ID = /^[a-z][a-z0-9-]{0,31}$/;

/** Who acts: an API key, or a person whom the identity provider vouches for. */
export interface Principal {
  /** Stable id: `key_…`, `oidc:…`. Part of what an Idempotency-Key is named under. */
  id: string;
  /** What people call it. */
  name: string;
  role: Role;
  /** null: all. */
  areas: readonly Area[] | null;
  /** Partners whose data it may see and touch; null: all. */
  partners: readonly string[] | null;
}

/** A principal and where its request came from. */
export interface Caller extends Principal {
  /** Network address, as the audit keeps it. */
  origin: string;
}

/** Is `role` at least `least`? */
export function reaches(role: Role, least: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(least);
}

/** May this principal see and touch this partner's data? Lists filter by it; a single thing of another partner is called unknown. */
export function mayPartner(principal: Pick<Principal, 'partners'>, partner: string): boolean {
  return principal.partners === null || principal.partners.includes(partner);
}
