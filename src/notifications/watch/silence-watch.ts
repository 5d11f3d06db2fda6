import { lastReceived } from '../../messaging/consumer';
import { awaitedAnswers } from '../../messaging/exchanges';
import type { Partner, Partners } from '../../partners';
import type { Database } from '../../platform/database';
import type { Notifications } from '../notifications';
import { heardBy, type Listening, silenceOf } from './domain/silence';
import type { PartnerWatchRepository, WatchedPartner } from './partner-watch.repository';

/** So much of the past is read again: what was committed meanwhile bears the time at which its batch began. */
const AGAIN_MS = 60_000;
/** Most of the inbox's past that is read at once: after a long stop there may be days of it. */
const SLICE_MS = 3_600_000;

/** Tells people of partners that say nothing although we wait for an answer of theirs. */
export class SilenceWatch {
  constructor(
    private readonly database: Database,
    private readonly repository: PartnerWatchRepository,
    private readonly partners: Partners,
    private readonly notifications: Notifications,
    private readonly hours: number,
  ) {}

  /** Looks once, by this time. */
  async look(now: Date): Promise<void> {
    if (this.hours === 0) return;
    const forMs = this.hours * 3_600_000;
    const partners = await this.partners.list();
    await this.listen(
      partners.map(({ id }) => id),
      now,
      forMs,
    );
    const watched = new Map((await this.repository.all()).map((row) => [row.partner, row]));
    const known = partners.flatMap((partner) => {
      const row = watched.get(partner.id);
      return row ? [{ partner, row, listening: listeningTo(partner, row) }] : [];
    });
    const quiet = known.filter(({ listening }) => now.getTime() - heardBy(listening).getTime() >= forMs);
    const owed = new Map(
      (
        await awaitedAnswers(
          this.database,
          quiet.map(({ partner }) => partner.id),
        )
      ).map((answers) => [answers.partner, answers]),
    );
    for (const { partner, row, listening } of known) {
      await this.judge(partner, row, { ...listening, awaited: owed.get(partner.id) }, now, forMs);
    }
  }

  /** Reads what came since the last look, no further back than a silence goes. */
  private async listen(ids: readonly string[], now: Date, forMs: number): Promise<void> {
    await this.database.transaction((tx) => this.repository.add(tx, ids, now));
    const rows = await this.repository.all();
    const last = Math.min(now.getTime(), ...rows.map(({ heardUpTo }) => heardUpTo.getTime()));
    let from = Math.max(last, now.getTime() - forMs) - AGAIN_MS;
    while (from < now.getTime()) {
      const until = new Date(Math.min(from + SLICE_MS, now.getTime()));
      const received = await lastReceived(this.database, new Date(from), until);
      await this.database.transaction((tx) => this.repository.heard(tx, ids, received, until));
      from = until.getTime();
    }
  }

  private async judge(
    { id, name }: Partner,
    row: WatchedPartner,
    listening: Listening,
    now: Date,
    forMs: number,
  ): Promise<void> {
    const silence = silenceOf(listening, now, forMs);
    if (silence.kind === 'goes-on' || (silence.kind === 'none' && row.silentSince === null)) return;
    await this.database.transaction(async (tx) => {
      const since = silence.kind === 'begins' ? silence.since : null;
      if (!(await this.repository.silent(tx, row, since)) || silence.kind === 'none') return;
      const data = {
        partner: { id, name },
        at: now.toISOString(),
        since: silence.since.toISOString(),
        count: silence.count,
      };
      const event = { id: `partner/${id}/silent/${data.since}`, kind: 'partner-silent', at: now, partner: id, data };
      await this.notifications.raise(tx, [event], now);
    });
  }
}

const listeningTo = ({ state, stateSince }: Partner, row: WatchedPartner): Listening => ({
  watchedSince: row.watchedSince,
  lastMessageAt: row.lastMessageAt,
  silentSince: row.silentSince,
  activeSince: state === 'active' ? stateSince : undefined,
  awaited: undefined,
});
