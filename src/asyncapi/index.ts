export type { Side } from './asyncapi-parts';
export { channelsInFormat } from './channels-in-format';
export { generatePartnerDocuments } from './generate';
export type { DocumentedChannel, PartnerInterfaceInput } from './partner-interface';
