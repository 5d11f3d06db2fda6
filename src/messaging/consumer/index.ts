export type { ConsumerHealth } from './consumer-health';
export { HandlesContract } from './contract-handler';
export { createProcessor, createTransport } from './create-transport';
export type { InboundBatch, InboundHandler, InboundMessage, Outcome } from './handler';
export type { ParkedDesk, ParkedEdit, Release, ReplayObserver, ReplayResult } from './parked-desk';
export { type ParkedMessage, parkedOf } from './parked-list';
export { ParleyTransport } from './parley-transport';
export { type ChannelPause, pauseChannel, pausedChannels, resumeChannel } from './protection/channel-pauses';
export { nameUuid } from './record-identity';
