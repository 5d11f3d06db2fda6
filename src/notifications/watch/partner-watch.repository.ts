import { type Database, query, type Tx } from '../../platform/database';

/** A row of partner_watch. */
export interface WatchedPartner {
  partner: string;
  watchedSince: Date;
  heardUpTo: Date;
  lastMessageAt: Date | null;
  silentSince: Date | null;
  deadToldAt: Date | null;
  deadNewestAt: Date | null;
}

/** Dead letters of a partner that people are to be told of. */
export interface DeadToTell extends Pick<WatchedPartner, 'partner' | 'deadToldAt'> {
  /** When the newest of them died. */
  newest: Date;
}

/** The watchers' SQL, one statement a method. */
export class PartnerWatchRepository {
  constructor(private readonly database: Database) {}

  all(): Promise<WatchedPartner[]> {
    return this.database.query<WatchedPartner>(
      `SELECT partner, watched_since AS "watchedSince", heard_up_to AS "heardUpTo", last_message_at AS "lastMessageAt", silent_since AS "silentSince",
         dead_told_at AS "deadToldAt", dead_newest_at AS "deadNewestAt"
       FROM partner_watch ORDER BY partner`,
    );
  }

  /** Begins to watch those that are not watched yet. */
  async add(tx: Tx, partners: readonly string[], now: Date): Promise<void> {
    await query(
      tx,
      `INSERT INTO partner_watch (partner, watched_since, heard_up_to) SELECT p, :now, :now FROM unnest(:partners::text[]) p ORDER BY p ON CONFLICT DO NOTHING`,
      { partners, now },
    );
  }

  /** All that came of these partners before `until` is known; no time is ever taken back. */
  async heard(
    tx: Tx,
    partners: readonly string[],
    received: readonly { partner: string; at: Date }[],
    until: Date,
  ): Promise<void> {
    await query(
      tx,
      `UPDATE partner_watch w SET heard_up_to = greatest(heard_up_to, :until), last_message_at = greatest(last_message_at, u.at)
       FROM (SELECT p, max(a) FROM unnest(:partners::text[]) p LEFT JOIN unnest(:from::text[], :ats::timestamptz[]) r (f, a) ON f = p GROUP BY 1) u (p, at) WHERE w.partner = u.p`,
      { partners, until, from: received.map(({ partner }) => partner), ats: received.map(({ at }) => at) },
    );
  }

  /** Writes since when these are silent. False: another process has written it meanwhile. */
  async silent(tx: Tx, { partner, silentSince }: WatchedPartner, since: Date | null): Promise<boolean> {
    const rows = await query(
      tx,
      `UPDATE partner_watch SET silent_since = :since WHERE partner = :partner AND silent_since IS NOT DISTINCT FROM :silentSince::timestamptz RETURNING 1`,
      { partner, silentSince, since },
    );
    return rows.length > 0;
  }

  /**
   * Writes what people are told of the dead letters of these partners. Resolves with those that no other process has told of meanwhile. Their
   * rows are locked in the order of their names: two that tell of the same wait for each other once.
   */
  async toldOfDead(tx: Tx, due: readonly DeadToTell[], now: Date): Promise<string[]> {
    const rows = await query<{ partner: string }>(
      tx,
      `WITH due AS MATERIALIZED (
         SELECT * FROM unnest(:partners::text[], :tellings::timestamptz[], :newest::timestamptz[]) d (partner, told_at, newest_at)
       ), ours AS MATERIALIZED (
         SELECT w.partner, d.newest_at FROM partner_watch w JOIN due d USING (partner)
         WHERE w.dead_told_at IS NOT DISTINCT FROM d.told_at ORDER BY w.partner FOR UPDATE OF w
       )
       UPDATE partner_watch w SET dead_told_at = :now, dead_newest_at = ours.newest_at FROM ours WHERE w.partner = ours.partner
       RETURNING w.partner`,
      {
        now,
        partners: due.map(({ partner }) => partner),
        tellings: due.map(({ deadToldAt }) => deadToldAt),
        newest: due.map(({ newest }) => newest),
      },
    );
    return rows.map(({ partner }) => partner);
  }
}
