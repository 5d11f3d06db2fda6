export type { Channel, Format } from './channel';
export { addChannels, ChannelCatalog } from './channel-catalog';
