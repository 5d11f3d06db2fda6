import { type AnyContract, CONTRACTS, formatOf, typeOf } from '../../contracts';
import { AppError } from '../../platform/errors';
import type { ChannelCatalog } from '../channels';
import { storedHeaders } from '../consumer';
import type { Codec } from '../registry';
import type { LetterContent } from './dead-letter-list';

/** A record's document as far as it can be read. */
export interface ReadDocument {
  /** Undefined where the record names none of our documents. */
  contract: AnyContract | undefined;
  /** Undefined where the bytes can't be read; of a document that only breaks a rule, what was read. */
  document: unknown;
  /** Why it is not read, or not a valid document. */
  trouble: { code: string; detail: string; pointer?: string | undefined } | undefined;
  /** What was read is all that the bytes say: so in JSON alone, since other formats step over what a later schema added. */
  isWhole: boolean;
}

/** Reads the documents of parked records for people, also those that no handler would ever get. */
export class DocumentReader {
  constructor(
    private readonly codec: Codec,
    private readonly channels: ChannelCatalog,
  ) {}

  /** Never rejects: a registry that is away is a trouble among others, since the rest can be shown all the same. */
  async read(
    record: Pick<LetterContent, 'type' | 'topic' | 'rawValue' | 'headerNames' | 'headerValues'>,
  ): Promise<ReadDocument> {
    const contract = CONTRACTS.find((candidate) => typeOf(candidate) === record.type);
    const not = (code: string, detail: string): ReadDocument => ({
      contract,
      document: undefined,
      trouble: { code, detail },
      isWhole: false,
    });
    if (record.rawValue === null) return not('tombstone-unsupported', 'The record has no value.');
    if (!contract) return not('contract-unknown', 'No such document is known here.');
    if (!this.channels.find(record.topic)) await this.channels.load();
    const channel = this.channels.find(record.topic);
    if (!channel) return not('channel-unknown', 'The topic is no channel of ours any more.');
    try {
      const headers = storedHeaders(record.headerNames, record.headerValues);
      const decoded = await this.codec.decode(contract, channel, { value: record.rawValue, headers });
      const isWhole = ['json', 'json-schema'].includes(formatOf(contract, channel.format));
      if (decoded.ok) return { contract, document: decoded.value, trouble: undefined, isWhole };
      return { contract, document: decoded.broken, trouble: decoded.error, isWhole };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return not(error.code, error.message);
    }
  }
}
