import type { Channel } from './notification';

/** Whose limits and whose breaker count. Each webhook is one of its own: one that is dead costs the others nothing. */
export const providerOf = (channel: Channel, receiver: string | null): string =>
  channel === 'webhook' ? `webhook/${receiver}` : channel;
