export { type Channel, deadLetterTopic } from './channel';
export { addChannels, ChannelCatalog, widenChannel } from './channel-catalog';
export { type SchemaInUse, SchemaUse } from './schema-use';
export {
  lockState,
  type PartnerStanding,
  type PartnerState,
  standingInWords,
  standingOf,
  stateOf,
} from './partner-state';
