export { CONTRACTS, PARTNER_ID_PATTERN } from './catalogue';
export * from './contract';
export * from './decimal';
export {
  despatchAdvice,
  type DespatchAdvice,
  type DespatchAdviceLine,
  type DespatchDriver,
} from './despatch-advice.v1';
export { despatchReceipt, type DespatchReceipt } from './despatch-receipt.v1';
export { ENVELOPE_HEADERS, fromHeaders, toHeaders, type Envelope, type RawHeaders } from './envelope';
export { errorReport, type ErrorReport } from './error-report.v1';
export {
  CANCELLATION_CODES,
  orderCancellationResponse,
  type CancellationCode,
  type OrderCancellationResponse,
} from './order-cancellation-response.v1';
export {
  notificationRequest,
  type NotificationRequest,
  type NotificationRequestEntry,
} from './notification-request.v1';
export { orderCancellation, type OrderCancellation } from './order-cancellation.v1';
export { orderRequest, type OrderContact, type OrderRequest, type OrderRequestLine } from './order-request.v1';
export {
  orderResponse,
  RESPONSE_CODES,
  type OrderResponse,
  type OrderResponseLine,
  type ResponseCode,
} from './order-response.v1';
export { contractsFor, contractsOn, isInternal, OWN_SYSTEMS } from './own-systems';
export {
  holdsPersonalData,
  isSecret,
  isMask,
  MASK,
  mask,
  maskAt,
  type Masked,
  type Path,
  PERSONAL_DATA,
  personalTexts,
  restore,
  type Restored,
} from './personal-data';
export { withoutPersonalData } from './without-personal-data';
