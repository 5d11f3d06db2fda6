export type { Side } from './asyncapi-parts';
export { channelsInFormat } from './channels-in-format';
export { generatePartnerDocuments } from './generate';
export {
  type Authentication,
  type Channel,
  describePartner,
  type DocumentedChannel,
  type Message,
  type PartnerInterface,
  type PartnerInterfaceInput,
} from './partner-interface';
