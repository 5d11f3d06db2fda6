import type { AnyContract } from '../contracts';
import { DEFAULT_RETRY } from '../contracts';
import type { Message, PartnerInterface } from './partner-interface';

/** Part of what both sides rely on; `code` stands between backticks, so that it can become Markdown or HTML. */
export interface Section {
  title: string;
  items: string[];
}

const UNITS = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
  [1000, 'second'],
] as const;

/** `1 hour`, `90 minutes`: in the largest unit that divides it. */
export function duration(ms: number): string {
  for (const [size, unit] of UNITS) {
    if (ms % size === 0) return `${ms / size} ${unit}${ms === size ? '' : 's'}`;
  }
  return `${ms} ms`;
}

const LATE = 'A later answer still counts where the state of things allows it, and is recorded as late.';

const messagesOf = ({ channels }: PartnerInterface): Message[] => channels.flatMap((channel) => channel.messages);

/** What both sides rely on beside the documents themselves: the same words in both documents. */
export function agreementOf(described: PartnerInterface): Section[] {
  const messages = messagesOf(described);
  return [
    recordSection(messages),
    {
      title: 'Repeats',
      items: [
        'A record may arrive more than once. Sent again it has the same `ce_id`: apply a document once per topic and `ce_id`, and remember an id for at least as long as its topic keeps records.',
        'We do the same with yours: a repeat has no second effect. The same `ce_id` with another key or value is no repeat, and is refused. So write with `acks=all`, and write again what was not acknowledged.',
      ],
    },
    {
      title: 'Order',
      items: [
        'Records of one key stand in one partition, in the order in which what they say was decided. First deliveries keep that order; a repeat may follow later ones.',
        'Write all records of a key to one partition, one after the other: a key picks its partition by murmur2, as in the Java client. The number of partitions stays the same for the life of a topic.',
      ],
    },
    ...exchangeSection(messages),
    refusalSection(described, messages),
    {
      title: 'Identity and change',
      items: [
        'Whose a record is follows from its topic, which only its writer may write to; never from what it says.',
        "Within a version a document only gains or loses members that may be missing. Ignore members that you don't know, as we do, and report a code that you don't know rather than guess. Anything else is a new version with a `ce_type` of its own.",
      ],
    },
  ];
}

function recordSection(messages: readonly Message[]): Section {
  const items = [
    'Records are CloudEvents 1.0 in binary mode: the attributes are headers in UTF-8, the value is the document alone. `ce_type` tells which document it is; one topic may carry several.',
    'The record key is the member of the document that the message names, as UTF-8 text.',
    'Decimals travel as text and are exact; times are RFC 3339 in UTC. Examples are shown as JSON, whatever the format of a topic; members that have no value are left out.',
    'Records may be compressed with gzip, snappy, lz4 or zstd; ours are not.',
  ];
  const registered = [...new Set(messages.map((message) => message.format))].filter((format) => format !== 'json');
  if (registered.length > 0) {
    items.push(
      `Values in ${registered.map(formatName).join(' and ')} have Confluent's wire format: a byte 0, the schema's id in 4 bytes (big endian), ${registered.includes('protobuf') ? 'the message indexes, ' : ''}then the document. The subject of a schema is \`<topic>-<record name>\` (TopicRecordNameStrategy). Schemas are registered before they are used, never while running.`,
    );
  }
  return { title: 'Records', items };
}

function exchangeSection(messages: readonly Message[]): Section[] {
  const requests = messages.filter((message) => message.answeredBy.length > 0);
  if (requests.length === 0) return [];
  const deadlines = requests.flatMap(({ title, contract, ours }) =>
    contract.deadlineMs === undefined
      ? []
      : `${title}: ${ours ? 'the partner answers' : 'we answer'} within ${duration(contract.deadlineMs)}.${furtherTerms(contract)}`,
  );
  return [
    {
      title: 'Requests and answers',
      items: [
        'Who asks chooses `ce_correlationid`; every answer copies it and names the `ce_id` of the request as `ce_causationid`. Answers go to the topic that this document states; no header of a request names another one.',
        "We also take the correlation id from `kafka_correlationId`, as Spring's clients write it, where `ce_correlationid` is missing.",
        ...deadlines,
        ...(deadlines.length > 0 ? [LATE] : []),
      ],
    },
  ];
}

/** What holds when an interim answer came, and when none did. */
function furtherTerms({ interimDeadlineMs, resend }: AnyContract): string {
  const interim =
    interimDeadlineMs === undefined
      ? ''
      : ` After the first interim answer the final one is due within ${duration(interimDeadlineMs)}.`;
  const again = resend
    ? ` Unanswered, it is sent again under the same \`ce_id\`, up to ${resend.times} times, each with ${duration(resend.everyMs)} to answer.`
    : '';
  return interim + again;
}

function refusalSection({ partner, channels }: PartnerInterface, messages: readonly Message[]): Section {
  const report = messages.find((message) => message.contract.name === 'error-report');
  const topic = channels.find((channel) => report && channel.messages.includes(report))?.topic;
  const holding = messages.filter(({ ours, contract }) => !ours && contract.laterMessages === 'hold');
  const items = [
    "What we can't read or accept takes no effect and is kept byte for byte until a person has decided about it. That is a value that doesn't fit its schema or rules, a key that is not the document's, an unknown `ce_type`, a document on another topic than its own, a missing `ce_id` where the topic asks for one, a record without a value, or an answer to nothing that we asked.",
  ];
  if (topic !== undefined) {
    items.push(
      `We report it on \`${topic}\`: code, pointer into the document, topic, partition and offset. Reports are always plain JSON.`,
    );
  }
  if (holding.length > 0) {
    items.push(
      `Later records of the same key on that topic wait behind it (${holding.map(({ title }) => title.toLowerCase()).join(', ')}); other keys go on. A corrected document needs a new \`ce_id\`, and waits like them until we let the key go.`,
    );
  }
  const tried = messages.filter(({ ours }) => !ours).map(({ contract }) => (contract.retry ?? DEFAULT_RETRY).maxAgeMs);
  if (tried.length > 0) {
    items.push(
      `A document that comes before the one that it rests on is tried again until that is there, for ${duration(Math.max(...tried))} at most; nothing is asked of ${partner} meanwhile.`,
    );
  }
  return { title: "What we can't read", items };
}

export function formatName(format: Message['format']): string {
  return { avro: 'Avro', protobuf: 'Protobuf', 'json-schema': 'JSON Schema', json: 'plain JSON' }[format];
}
