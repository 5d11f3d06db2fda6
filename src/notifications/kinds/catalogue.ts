import type { NotificationKind } from '../domain/kind';
import { announcement } from './announcement';
import { confirmationCode } from './confirmation-code';
import { deadLettersOpen } from './dead-letters-open';
import { message } from './message';
import { orderAccepted } from './order-accepted';
import { orderChanged } from './order-changed';
import { orderOverdue } from './order-overdue';
import { orderRejected } from './order-rejected';
import { orderShipped } from './order-shipped';
import { partnerSilent } from './partner-silent';
import { test } from './test';
import { webhookDisabled } from './webhook-disabled';

/** Everything that Parley may tell somebody. A new one: its file, this line, and its templates in `../templates/files`. */
export const KINDS: readonly NotificationKind[] = [
  orderAccepted,
  orderRejected,
  orderChanged,
  orderShipped,
  orderOverdue,
  partnerSilent,
  deadLettersOpen,
  webhookDisabled,
  test,
  confirmationCode,
  announcement,
  message,
];

const byName = new Map(KINDS.map((kind) => [kind.name, kind]));

/** Undefined: no such kind, or no longer; rows outlive the release that made them. */
export const kindOf = (name: string): NotificationKind | undefined => byName.get(name);
