export type { Channel } from './channel';
export { addChannels, ChannelCatalog } from './channel-catalog';
