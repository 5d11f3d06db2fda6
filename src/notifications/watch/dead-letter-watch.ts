import { openDeadLetters } from '../../messaging/triage';
import type { Partners } from '../../partners';
import type { Database } from '../../platform/database';
import type { Notifications } from '../notifications';
import { isDeadLetterNoticeDue } from './domain/dead-letters-due';
import { byPartner, type LettersOfPartner } from './domain/letters-of-partner';
import type { PartnerWatchRepository } from './partner-watch.repository';

/** Tells people of dead letters that wait for a decision of theirs. */
export class DeadLetterWatch {
  constructor(
    private readonly database: Database,
    private readonly repository: PartnerWatchRepository,
    private readonly partners: Partners,
    private readonly notifications: Notifications,
  ) {}

  /** Looks once, by this time. */
  async look(now: Date): Promise<void> {
    const open = byPartner(await openDeadLetters(this.database));
    if (open.length === 0) return;
    const told = new Map((await this.repository.all()).map((row) => [row.partner, row]));
    for (const letters of open) {
      const row = told.get(letters.partner);
      const last = { toldAt: row?.deadToldAt ?? null, newestAt: row?.deadNewestAt ?? null };
      if (isDeadLetterNoticeDue(last, letters.newest, now)) await this.tell(letters, last.toldAt, now);
    }
  }

  private async tell(letters: LettersOfPartner, deadToldAt: Date | null, now: Date): Promise<void> {
    const { partner: id, count, oldest, newest, causes } = letters;
    const name = (await this.partners.find(id))?.name ?? id;
    await this.database.transaction(async (tx) => {
      await this.repository.add(tx, [id], now);
      if (!(await this.repository.toldOfDead(tx, { partner: id, deadToldAt }, newest, now))) return;
      const at = now.toISOString();
      const data = { partner: { id, name }, at, count, since: oldest.toISOString(), causes };
      const event = { id: `partner/${id}/dead-letters/${at}`, kind: 'dead-letters-open', at: now, partner: id, data };
      await this.notifications.raise(tx, [event], now);
    });
  }
}
