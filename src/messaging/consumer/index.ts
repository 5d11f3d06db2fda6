export type { ConsumerHealth } from './consumer-health';
export { HandlesContract } from './contract-handler';
export { createParkedDrain, createProcessor, createTransport } from './create-transport';
export { StaffDesk } from './desk/staff-desk';
export type { InboundBatch, InboundHandler, InboundMessage, Outcome } from './handler';
export { lastReceived } from './last-received';
export { parkedAnswers } from './parked-answers';
export type { ParkedDesk, ParkedEdit, Release, ReplayObserver, ReplayResult } from './parked-desk';
export { type ParkedMessage, parkedOf } from './parked-list';
export { ParleyTransport } from './parley-transport';
export {
  type ChannelPause,
  liftFullPauses,
  pauseChannel,
  pausedChannels,
  resumeChannel,
  SUSPENDED_FULL,
} from './protection/channel-pauses';
export { nameUuid } from './record-identity';
export { storedHeaders } from './stored-headers';
