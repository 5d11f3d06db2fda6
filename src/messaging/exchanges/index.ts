export type { Exchange, ExchangeAnswer, ExchangeState } from './exchange';
export { Exchanges, type NewExchange } from './exchanges';
export { ownExchange, type ExchangeRefusal, type OwnExchange } from './own-exchange';
export { addAnswered, type AnsweredExchange, lockAsked } from './partner-exchanges';
