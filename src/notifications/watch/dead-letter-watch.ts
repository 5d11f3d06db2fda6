import { openDeadLetters } from '../../messaging/triage';
import type { Partners } from '../../partners';
import type { Database } from '../../platform/database';
import type { NotificationEvent } from '../domain/notification';
import type { Notifications } from '../notifications';
import { FEW, isDeadLetterNoticeDue, mannerOfTelling } from './domain/dead-letters-due';
import { byPartner, type LettersOfPartner, saidOf } from './domain/letters-of-partner';
import type { DeadToTell, PartnerWatchRepository } from './partner-watch.repository';

type Due = LettersOfPartner & DeadToTell;

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
    const watched = await this.repository.all();
    const told = new Map(watched.map((row) => [row.partner, row]));
    const due = open.flatMap((letters): Due[] => {
      const row = told.get(letters.partner);
      const last = { toldAt: row?.deadToldAt ?? null, newestAt: row?.deadNewestAt ?? null };
      return isDeadLetterNoticeDue(last, letters.newest, now) ? [{ ...letters, deadToldAt: last.toldAt }] : [];
    });
    const tellings = watched.flatMap(({ deadToldAt }) => deadToldAt ?? []);
    const manner = mannerOfTelling(due.length, tellings, now);
    if (due.length > 0 && manner !== 'later') await this.tell(due, manner === 'alone' ? FEW : 1, now);
  }

  /** @param most partners of which somebody is told one by one */
  private async tell(due: readonly Due[], most: number, now: Date): Promise<void> {
    const names = new Map((await this.partners.list()).map(({ id, name }) => [id, name]));
    const said = (letters: readonly Due[]) => saidOf(letters, (id) => names.get(id) ?? id, now);
    await this.database.transaction(async (tx) => {
      await this.repository.add(
        tx,
        due.map(({ partner }) => partner),
        now,
      );
      const ours = new Set(await this.repository.toldOfDead(tx, due, now));
      const letters = new Map(due.filter(({ partner }) => ours.has(partner)).map((one) => [idOf(one, now), one]));
      const events = [...letters].map(([id, one]) => ({ ...event(id, now), partner: one.partner, data: said([one]) }));
      const summary = (of: readonly NotificationEvent[]) => {
        const together = of.flatMap(({ id }) => letters.get(id) ?? []);
        return { ...event(`dead-letters/${together[0]?.partner}/${now.toISOString()}`, now), data: said(together) };
      };
      await this.notifications.raiseTogether(tx, events, { most, summary }, now);
    });
  }
}

const event = (id: string, at: Date) => ({ id, kind: 'dead-letters-open', at });
const idOf = ({ partner }: Due, now: Date) => `partner/${partner}/dead-letters/${now.toISOString()}`;
