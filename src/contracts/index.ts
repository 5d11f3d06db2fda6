export { CONTRACTS, PARTNER_ID_PATTERN } from './catalogue';
export { topicFor, typeOf, type Contract, type Direction, type JsonSchema } from './contract';
export * from './decimal';
export { fromHeaders, toHeaders, type Envelope, type RawHeaders } from './envelope';
export { orderRequest, type OrderRequest, type OrderRequestLine } from './order-request.v1';
export {
  orderResponse,
  RESPONSE_CODES,
  type OrderResponse,
  type OrderResponseLine,
  type ResponseCode,
} from './order-response.v1';
