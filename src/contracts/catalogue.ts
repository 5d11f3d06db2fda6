import type { AnyContract } from './contract';
import { despatchAdvice } from './despatch-advice.v1';
import { despatchReceipt } from './despatch-receipt.v1';
import { errorReport } from './error-report.v1';
import { notificationRequest } from './notification-request.v1';
import { orderCancellationResponse } from './order-cancellation-response.v1';
import { orderCancellation } from './order-cancellation.v1';
import { orderRequest } from './order-request.v1';
import { orderResponse } from './order-response.v1';

/** Every document that Parley knows. A new one is added here and nowhere else in this folder. */
export const CONTRACTS: readonly AnyContract[] = [
  orderRequest,
  orderResponse,
  orderCancellation,
  orderCancellationResponse,
  despatchAdvice,
  despatchReceipt,
  errorReport,
  notificationRequest,
];

/** Partner ids name topics, accounts and ACL prefixes: no dots, so that a prefix of `acme` never covers `acme.eu`. */
export const PARTNER_ID_PATTERN = '^[a-z][a-z0-9-]{0,31}$';
