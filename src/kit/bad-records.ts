import { type AnyContract, CONTRACTS, typeOf } from '../contracts';
import type { Channel, Message } from '../asyncapi';
import type { Fixture } from './fixtures';

type Change = Pick<Fixture, 'says'> &
  Partial<Pick<Fixture, 'key' | 'headers' | 'value' | 'document'>> & { pointer?: string };

/** A time that is none, as long as one: in every format a text of the same length can take its place. */
const NO_TIME = 'the third of February...';
const UNREGISTERED = 0x7fffffff;

/** The good record, spoilt in each way that the record alone shows; each is refused with the code that names it. */
export function badRecords(good: Fixture, channel: Channel, message: Message): Fixture[] {
  const value = good.value ?? Buffer.alloc(0);
  const changes: Record<string, Change | undefined> = {
    undecodable: { says: 'The value ends too early.', value: value.subarray(0, -3) },
    'schema-unknown': message.format === 'json' ? undefined : schemaUnknown(value),
    invalid: invalid(good, value),
    'key-mismatch': {
      says: `The key is not the document's ${message.contract.key}.`,
      key: 'another-order',
      pointer: `/${message.contract.key}`,
    },
    'envelope-invalid': {
      says: 'A CloudEvents attribute is too long.',
      headers: { ce_correlationid: 'x'.repeat(256) },
    },
    'tombstone-unsupported': { says: 'The record has no value.', value: null, document: undefined },
    'contract-unknown': {
      says: 'ce_type names a version that was never agreed.',
      headers: { ce_type: typeOf({ ...message.contract, version: 99 }) },
    },
    'contract-misplaced': {
      says: 'ce_type names a document of another topic.',
      headers: { ce_type: typeOf(elsewhere(message.contract)) },
    },
    'message-id-missing': channel.allowMissingId
      ? undefined
      : { says: 'The record has no ce_id.', headers: { ce_id: '' } },
  };
  return Object.entries(changes).flatMap(([code, change]) => (change ? [spoilt(good, message, code, change)] : []));
}

function spoilt(good: Fixture, { contract }: Message, code: string, change: Change): Fixture {
  const { headers, pointer, ...rest } = change;
  const own = { ...good.headers, ce_id: `bad-${contract.name}-${code}`, ...headers };
  return {
    ...good,
    ...rest,
    name: `bad/${contract.name}/${code}`,
    headers: Object.fromEntries(Object.entries(own).filter(([, text]) => text !== '')),
    refusedWith: { code, ...(pointer === undefined ? {} : { pointer }) },
  };
}

function schemaUnknown(value: Buffer): Change {
  const bytes = Buffer.from(value);
  bytes.writeUInt32BE(UNREGISTERED, 1);
  return { says: 'The schema id is not one of this topic.', value: bytes };
}

function invalid({ document }: Fixture, value: Buffer): Change {
  const { issuedAt } = document as { issuedAt: string };
  return {
    says: 'A member breaks its rule.',
    value: exchanged(value, issuedAt, NO_TIME),
    document: { ...(document as object), issuedAt: NO_TIME },
    pointer: '/issuedAt',
  };
}

/** The bytes with another text of the same length in one place. */
function exchanged(bytes: Buffer, text: string, other: string): Buffer {
  const at = bytes.indexOf(text);
  if (at < 0 || text.length !== other.length) throw new RangeError(`"${text}" cannot become "${other}"`);
  const copy = Buffer.from(bytes);
  copy.write(other, at, 'latin1');
  return copy;
}

const elsewhere = ({ topic }: AnyContract): AnyContract =>
  CONTRACTS.find((other) => other.topic !== topic && other.direction === 'in') ?? (CONTRACTS[0] as AnyContract);
