import { standingInWords } from '../channels';

/** Of a message whose partner is suspended: nothing of it is tried meanwhile. */
export interface Suspension {
  isSuspended: boolean;
  suspendedSince: Date | null;
  suspendedBecause: string | null;
}

export const SUSPENSION_COLUMNS = `s.id IS NOT NULL AS "isSuspended", s.state_since AS "suspendedSince", s.state_reason AS "suspendedBecause"`;

/** {@link Suspension} of a row `p` of parked_inbound. */
export const SUSPENSION_JOIN = `LEFT JOIN partner s ON s.id = p.partner AND s.state = 'suspended'`;

/** Undefined: its partner is not suspended. */
export function suspensionInWords({
  partner,
  isSuspended,
  suspendedSince,
  suspendedBecause,
}: Suspension & { partner: string | null }): string | undefined {
  if (!isSuspended || partner === null) return undefined;
  const standing = { state: 'suspended', stateSince: suspendedSince, stateReason: suspendedBecause } as const;
  return `${standingInWords(partner, standing)} It is tried when ${partner} is resumed.`;
}
