import type { Clock } from '../../platform/clock';
import type { Database } from '../../platform/database';
import { NonRetriableError } from '../../platform/errors';
import { audit, type Caller } from '../../staff';
import type { ParkedDesk } from '../consumer';
import { MOST_RETRIED, type ParkedLetter, type ParkedList, reasonOf, type RetrySelection } from './parked-list';
import { parkedUnknown } from './refusals';

/** Makes waiting messages due before their time; audited. */
export class Retrying {
  constructor(
    private readonly database: Database,
    private readonly list: ParkedList,
    private readonly desk: ParkedDesk,
    private readonly clock: Clock,
  ) {}

  /** Throws `parked-unknown`, `parked-not-waiting`, `partner-suspended`. */
  async one(id: string, reason: string | undefined, by: Caller): Promise<ParkedLetter> {
    const letter = await this.list.find(id, by.partners);
    if (!letter) throw parkedUnknown();
    if (letter.isSuspended && letter.state === 'waiting')
      throw new NonRetriableError('partner-suspended', reasonOf(letter));
    await this.database.transaction(async (tx) => {
      const now = this.clock.now();
      const [due] = await this.desk.retryNow(tx, [id], now);
      if (due === undefined) throw await this.notWaiting(id, by);
      await audit(tx, { by, action: 'parked.retry', object: `parked/${id}`, partner: letter.partner, reason }, now);
    });
    return (await this.list.find(id, by.partners)) ?? letter;
  }

  /** How many {@link many} would make due now. */
  async plan(selection: RetrySelection, by: Caller): Promise<{ count: number; more: boolean }> {
    const ids = await this.list.waiting(selection, by.partners);
    return { count: Math.min(ids.length, MOST_RETRIED), more: ids.length > MOST_RETRIED };
  }

  async many(
    selection: RetrySelection,
    reason: string | undefined,
    by: Caller,
  ): Promise<{ count: number; more: boolean }> {
    const ids = await this.list.waiting(selection, by.partners);
    return this.database.transaction(async (tx) => {
      const now = this.clock.now();
      const due = await this.desk.retryNow(tx, ids.slice(0, MOST_RETRIED), now);
      const more = ids.length > MOST_RETRIED;
      if (due.length === 0) return { count: 0, more };
      const { partner, key, fingerprint } = selection;
      const detail = { count: due.length, key, fingerprint };
      await audit(tx, { by, action: 'parked.retry', object: 'parked', partner, reason, detail }, now);
      return { count: due.length, more };
    });
  }

  private async notWaiting(id: string, by: Caller): Promise<Error> {
    const letter = await this.list.find(id, by.partners);
    if (!letter) return parkedUnknown();
    const { behindId } = letter;
    return new NonRetriableError('parked-not-waiting', reasonOf(letter), {
      ...(behindId === null ? {} : { hint: `What becomes of message ${behindId} decides.` }),
    });
  }
}
