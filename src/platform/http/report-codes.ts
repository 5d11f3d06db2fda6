import { type ProblemCode, problemPage } from './problem-codes';

/** What a code of an error report means to the partner that reads it. */
export type ReportCode = Omit<ProblemCode, 'status'>;

/**
 * Codes that partners meet on their error topic, in words for partners. One that is a problem of the API as well has a row of its own
 * there, in words for callers. Every code that inspection or a handler's decision can end a record with stands here.
 */
export const REPORT_CODES: Readonly<Record<string, ReportCode>> = {
  undecodable: {
    title: 'The bytes are not a document of the agreed format',
    help: "The value is not what the channel's format says: not Confluent's wire format, cut off, or not UTF-8, say. Compare it with the examples of your documentation; send the document again under a new ce_id.",
  },
  'schema-unknown': {
    title: 'The schema id is not one of this topic',
    help: "The record names a schema that is not registered for this topic (subject: topic, dash, the record's full name). Check which registry and which subject name strategy your producer uses (TopicRecordNameStrategy), then send the document again under a new ce_id.",
  },
  'schema-mismatch': {
    title: 'The schema cannot be read as the document',
    help: "The record's schema is known, and a document written with it cannot become the one that was agreed. Write with the published schema or a compatible one, then send the document again under a new ce_id.",
  },
  invalid: {
    title: 'The document breaks its contract',
    help: '"pointer" says where and "detail" which rule. Mend the document and send it again under a new ce_id.',
  },
  'key-mismatch': {
    title: "The record's key is not the document's",
    help: 'The key of every record is the number of the order that the document names, in UTF-8, and nothing else.',
  },
  'envelope-invalid': {
    title: 'A CloudEvents attribute is unfit',
    help: 'ce_id, ce_type, ce_time, ce_correlationid and ce_causationid are text of 1 to 255 characters without control characters.',
  },
  'tombstone-unsupported': {
    title: 'The record has no value',
    help: 'No document is withdrawn by a record without a value. Send the document that says what you mean.',
  },
  'contract-unknown': {
    title: 'No such document is known',
    help: 'ce_type names the document and its version (parley.order-response.v1, say); the record names none, or one that was never agreed.',
  },
  'contract-misplaced': {
    title: 'The document does not belong on this topic',
    help: 'Each document has its topic and its direction; your documentation lists them.',
  },
  'message-id-missing': {
    title: 'The record has no ce_id',
    help: 'Give every message an id of its own, and the same id when you send the same message again.',
  },
  'message-id-reused': {
    title: 'The ce_id belongs to another message',
    help: 'An earlier record of this topic has the same id and another key or value. That one stands. Send this document again under a new id.',
  },
  'correlation-missing': {
    title: 'The message names no exchange',
    help: 'An answer copies ce_correlationid of its request; a document that begins an exchange gives it a new one.',
  },
  'exchange-unknown': {
    title: 'No request has this correlation id',
    help: 'Copy ce_correlationid of the request into the answer, byte for byte.',
  },
  'exchange-mismatch': {
    title: 'The answer does not belong to this request',
    help: 'The request with this correlation id was about another order, or is answered with another document.',
  },
  'order-unknown': {
    title: 'There is no such order',
    help: '"pointer" says where it is named. Order numbers are case-sensitive; copy them as they came.',
  },
  'document-too-large': {
    title: 'The document is larger than may be sent',
    help: 'Unpacked, a document has 4 MiB at most, or as many bytes as its topic takes where that is more.',
  },
  'batch-too-large': {
    title: 'A batch of records is too large to be unpacked',
    help: 'What your producer sends at once has 128 MiB unpacked, 250,000 records and a million headers at most. No record of the batch was read: lower batch.size or linger.ms, then send its documents again, with their ce_ids.',
  },
  'response-code-unknown': {
    title: 'The answer has a code that is not known',
    help: 'The codes that were agreed stand in your documentation.',
  },
  'illegal-transition': {
    title: 'The answer contradicts what was said before',
    help: 'The order has had its final answer, was cancelled, or some of it was despatched. What was recorded first stands; if it was wrong, call us.',
  },
  'too-early': {
    title: 'The document came before the one that it rests on',
    help: 'It was tried again for as long as was agreed, and what it rests on did not come: a despatch advice needs an order that was accepted. Send that first, then this document again under a new ce_id.',
  },
  'line-repeated': { title: 'A line is named twice', help: 'Name each line of the order at most once.' },
  'line-unknown': {
    title: 'The order has no such line',
    help: '"pointer" says which. Lines are named by the numbers of the order.',
  },
  'correlation-reused': {
    title: 'The correlation id stands for another exchange',
    help: 'Whoever begins an exchange gives it a correlation id of its own. Send the document again under a new one, and under a new ce_id.',
  },
  'despatch-number-unfit': {
    title: 'The despatch number is unfit',
    help: 'It is text without control characters. Send the document again with a fit number, under a new ce_id.',
  },
  'process-killer': {
    title: 'The record could not be processed',
    help: 'It is kept as you sent it, and our staff look at it. Sending it again changes nothing.',
  },
  'not-processed': {
    title: 'The record could not be processed',
    help: 'It is kept as you sent it, and our staff look at it. Sending it again under the same ce_id changes nothing.',
  },
};

/** The same of what our own systems meet on theirs, which is told to no partner. */
export const REQUEST_CODES: Readonly<Record<string, ReportCode>> = {
  'key-mismatch': {
    title: "The record's key is not the document's",
    help: 'The key of a request for a notification is its notificationId, in UTF-8, and nothing else.',
  },
  'notification-kind-unknown': {
    title: 'No such notification can be asked for',
    help: 'The kinds that other systems may ask for stand in the detail. All others are told by themselves, to whoever subscribed.',
  },
  'notification-destination-unclear': {
    title: 'It is not clear who is to be told',
    help: 'Name either a registered receiver, or a channel (email, sms) and an address of it; never both, never none.',
  },
  'notification-receiver-unknown': {
    title: 'There is no such receiver',
    help: 'Ids of receivers are lower case; GET /v1/notification-receivers lists them. Ask again under a new ce_id with one that is there, or have it added and the dead letter replayed.',
  },
  'notification-receiver-unreachable': {
    title: 'The receiver has no address for this',
    help: 'The receiver is registered without an address of the channel, or of any that the kind goes by. Leave the channel out, or have the address added (PUT /v1/notification-receivers/{id}) and the dead letter replayed.',
  },
  'notification-channel-unfit': {
    title: 'It does not go by this channel',
    help: 'The channels that fit stand in the detail. A webhook needs a registered receiver, with whom its secret is kept.',
  },
  'notification-address-unfit': {
    title: 'The address is unfit',
    help: 'An e-mail address is one mailbox without a name (ops@example.com), a phone number one of E.164 (+4930123456) without blanks. Nobody was told. Ask again under a new ce_id.',
  },
  'notification-data-missing': {
    title: 'Something that the text needs is missing',
    help: 'What the kind needs stands in the detail. Ask again, with all of it, under a new ce_id.',
  },
  'notification-data-unknown': {
    title: 'The kind does not know this name',
    help: 'The names that it knows stand in the detail; others would be missing from what is told.',
  },
  'notification-data-repeated': { title: 'A name is given twice', help: 'Give each name of the data once.' },
  'notification-time-unfit': {
    title: 'The time is unfit',
    help: 'issuedAt and expiresAt are times of RFC 3339 with their zones, and expiresAt is the later one.',
  },
  'notification-id-reused': {
    title: 'The notificationId belongs to another request',
    help: 'Something else was asked for under this id before: another kind, receiver, address, data, order, partner or end. That one stands, and nothing was sent for this one. Make the id when the event happens, one for each, and keep what is asked for with it.',
  },
  'partner-unknown': {
    title: 'There is no such partner',
    help: 'Partner ids are lower case. Leave the partner out where it is about none of them.',
  },
};

/** What the code means to a partner, and the page that says so; undefined for a code of the inside, faults of ours among them. */
export function reportCode(code: string): { title: string; page: string } | undefined {
  const codes = [REPORT_CODES, REQUEST_CODES].find((some) => Object.hasOwn(some, code));
  const meaning = codes?.[code];
  return meaning && { title: meaning.title, page: problemPage(code) };
}
