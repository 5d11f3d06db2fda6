/** What a held message waits behind: the first unresolved message before it that keeps its place in their key. */
export interface Behind {
  behindId: string | null;
  behindState: string | null;
  behindCode: string | null;
}

export const BEHIND_COLUMNS = `head.id AS "behindId", head.state AS "behindState", head.code AS "behindCode"`;

/** {@link Behind} of a row `p` of parked_inbound. What has lost its place (its contract lets the key go on) holds nothing. */
export const BEHIND_JOIN = `LEFT JOIN LATERAL (SELECT h.id, h.state, h.code FROM parked_inbound h WHERE p.state = 'held' AND h.channel_id = p.channel_id AND h.key = p.key
    AND h.holds AND h.state IN ('waiting', 'held', 'dead') AND h.id < p.id ORDER BY h.id LIMIT 1) head ON true`;

export function behindInWords({ behindId, behindState, behindCode }: Behind): string {
  const head =
    behindState === 'dead' ? `is a dead letter (${behindCode ?? 'unknown'})` : `waits (${behindCode ?? 'its turn'})`;
  return `It waits behind message ${behindId} of its key, which ${head}.`;
}
