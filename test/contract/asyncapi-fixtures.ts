import { load } from 'js-yaml';
import { channelsInFormat, generatePartnerDocuments, type Side } from '../../src/asyncapi';
import { CONTRACTS, type Format } from '../../src/contracts';

export const SIDES: readonly Side[] = ['parley', 'partner'];

export interface Reference {
  $ref: string;
}

export interface JsonObject {
  [member: string]: unknown;
}

export interface Operation {
  action: string;
  channel: Reference;
  messages: Reference[];
  reply?: { channel: Reference; messages: Reference[]; address?: unknown };
}

export interface MessageObject {
  name: string;
  headers: { required: string[]; properties: Record<string, JsonObject> };
  correlationId?: Reference;
  payload: { schemaFormat: string; schema: unknown };
  'x-parley-rules'?: JsonObject;
  bindings: { kafka: { key: JsonObject } & JsonObject };
  examples: { name: string; headers: Record<string, string>; payload: JsonObject }[];
}

/** The members of an AsyncAPI document that the checks look at. */
export interface AsyncApi {
  asyncapi: string;
  servers: Record<string, JsonObject>;
  channels: Record<string, { address: string; messages: Record<string, Reference> } & JsonObject>;
  operations: Record<string, Operation>;
  components: {
    messages: Record<string, MessageObject>;
    correlationIds: Record<string, { location: string }>;
  };
}

export type Documents = Record<Side, AsyncApi>;

export function filesFor(format: Format, partner = 'acme'): Map<string, string> {
  return generatePartnerDocuments({
    partner,
    contracts: CONTRACTS,
    channels: channelsInFormat(CONTRACTS, partner, format),
  });
}

/** Both documents in this format, read back from what is written. */
export function documentsFor(format: Format, partner = 'acme'): Documents {
  const files = filesFor(format, partner);
  const read = (side: Side) => load(files.get(`${partner}.${side}.yaml`) ?? '') as AsyncApi;
  return { parley: read('parley'), partner: read('partner') };
}
