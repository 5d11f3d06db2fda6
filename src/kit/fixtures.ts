import type { Channel, Message, PartnerInterface } from '../asyncapi';
import type { Codec } from '../messaging/registry';
import { badRecords } from './bad-records';

/** A record with the bytes that it has on the wire, and what it is for. */
export interface Fixture {
  /** Path within the folder of fixtures, without an ending. */
  name: string;
  /** Why it is there, one sentence. */
  says: string;
  writer: 'partner' | 'parley';
  topic: string;
  key: string;
  headers: Readonly<Record<string, string>>;
  /** null: a record without a value. */
  value: Buffer | null;
  /** The document where the value is one, right or wrong. */
  document?: unknown;
  /** The answer on the error topic; absent: it is a sound record. */
  refusedWith?: { code: string; pointer?: string };
}

/** Of every document its examples, and of those that the partner writes what is refused, each with its code. */
export async function fixturesOf({ channels }: PartnerInterface, codec: Codec): Promise<Fixture[]> {
  const fixtures: Fixture[] = [];
  for (const channel of channels) {
    for (const message of channel.messages) {
      const good = await goodRecords(channel, message, codec);
      fixtures.push(...good);
      const [first] = good;
      if (!message.ours && first) fixtures.push(...badRecords(first, channel, message));
    }
  }
  return fixtures;
}

async function goodRecords(channel: Channel, message: Message, codec: Codec): Promise<Fixture[]> {
  const { contract, ours } = message;
  const fixtures: Fixture[] = [];
  for (const { name, headers, payload } of message.examples) {
    const { payload: value, dataSchema } = await codec.encode(contract, channel, payload);
    fixtures.push({
      name: `good/${contract.name}/${name}`,
      says: ours ? `A record as we write it: ${message.title}.` : `A record that we take: ${message.title}.`,
      writer: ours ? 'parley' : 'partner',
      topic: channel.topic,
      key: String((payload as Record<string, unknown>)[contract.key]),
      headers: ours && dataSchema !== undefined ? { ...headers, ce_dataschema: dataSchema } : headers,
      value,
      document: payload,
    });
  }
  return fixtures;
}

/** As files: `.record.json` says all but the value, `.value` is the value's bytes, `.json` the document for people. */
export function filesOf(fixtures: readonly Fixture[]): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  for (const { name, value, document, ...record } of fixtures) {
    const file = name.slice(name.lastIndexOf('/') + 1);
    files.set(`${name}.record.json`, jsonOf({ ...record, value: value === null ? null : `${file}.value` }));
    if (value !== null) files.set(`${name}.value`, value);
    if (document !== undefined) files.set(`${name}.json`, jsonOf(document));
  }
  return files;
}

export const jsonOf = (value: unknown): Buffer => Buffer.from(`${JSON.stringify(value, null, 2)}\n`);
