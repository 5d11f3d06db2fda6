export type { Exchange, ExchangeAnswer, ExchangeState } from './exchange';
export { Exchanges } from './exchanges';
