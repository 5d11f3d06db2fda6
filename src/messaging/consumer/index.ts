export type { InboundBatch, InboundHandler, InboundMessage, Outcome } from './handler';
