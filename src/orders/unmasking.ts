import { type AnyContract, personalTexts } from '../contracts';
import type { Clock } from '../platform/clock';
import type { Database } from '../platform/database';
import { pointerOf } from '../platform/json';
import { audit, type Caller } from '../staff';

/** What somebody is about to see. */
export interface Unmasked {
  /** `order.unmask` */
  action: string;
  /** `order/4500017` */
  object: string;
  partner: string;
  contract: AnyContract;
  /** The document of that contract, as far as it is shown. */
  document: unknown;
}

/** Who is shown the personal data of an order, and why. */
export class Unmasking {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** Resolves when the entry of the audit is committed: nothing is answered before. It names places, never what stands there. */
  book({ action, object, partner, contract, document }: Unmasked, reason: string, by: Caller): Promise<void> {
    const shown = personalTexts(contract, document).map(({ path }) => pointerOf(path));
    const entry = { by, action, object, partner, reason, detail: { shown } };
    return this.database.transaction((tx) => audit(tx, entry, this.clock.now()));
  }
}
