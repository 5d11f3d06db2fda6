import type { Clock } from '../../platform/clock';
import type { Database } from '../../platform/database';
import { audit, type Caller } from '../../staff';
import type { DeadLetter } from './dead-letter';
import type { LetterView } from './letter-view';
import type { DeadLetterViewDto } from './letter-view.dto';

/**
 * Shows what is masked, to somebody who says why. Nothing is answered before the entry of the audit is committed; it is read before that, since
 * a registry may have to be asked, and no transaction waits for one.
 */
export class Unmasking {
  constructor(
    private readonly database: Database,
    private readonly views: LetterView,
    private readonly clock: Clock,
  ) {}

  /** The message with its document, bytes and headers. Throws `parked-unknown`, `content-secret`. */
  async letter(id: string, reason: string, by: Caller): Promise<{ letter: DeadLetter; view: DeadLetterViewDto }> {
    const { letter, view, hidden } = await this.views.unmasked(id, by);
    await this.book(letter, hidden, reason, by);
    return { letter, view };
  }

  /** The record's value, byte for byte; null of a tombstone. Throws `parked-unknown`, `content-secret`. */
  async value(id: string, reason: string, by: Caller): Promise<Buffer | null> {
    const { letter, value } = await this.views.value(id, by, true);
    await this.book(letter, ['raw'], reason, by);
    return value;
  }

  private book({ id, partner }: DeadLetter, hidden: readonly string[], reason: string, by: Caller): Promise<void> {
    // Places, never what stands there; a document of a partner's may have any number of them.
    const detail = { shown: hidden.slice(0, 100) };
    const entry = { by, action: 'dead-letter.unmask', object: `dead-letter/${id}`, partner, reason, detail };
    return this.database.transaction((tx) => audit(tx, entry, this.clock.now()));
  }
}
