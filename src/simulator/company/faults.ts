/** What is wrong with a record of the partner's: a code of the error report that it gets. */
export interface Fault {
  code: FaultCode;
  detail: string;
  /** RFC 6901, into the document. */
  pointer?: string;
}

/** Each code in words, and what the partner does about it. The codes are those of the company's own reports. */
export const FAULTS = {
  undecodable: {
    title: 'The bytes are not a document of the agreed format',
    next: 'Write the format that your channel states; compare with the fixtures of the documentation.',
  },
  'schema-unknown': {
    title: 'The schema id is not one of this topic',
    next: "Use TopicRecordNameStrategy: subject = topic, dash, the record's full name; and the company's registry.",
  },
  'schema-mismatch': {
    title: 'The schema cannot be read as the document',
    next: 'Write with the published schema, or one that is compatible with it.',
  },
  invalid: {
    title: 'The document breaks its contract',
    next: 'Mend what the pointer names; the JSON Schema of the document has the rule.',
  },
  'key-mismatch': {
    title: "The record's key is not the document's",
    next: 'Give every record the order number as its key, in UTF-8 and nothing else.',
  },
  'tombstone-unsupported': { title: 'The record has no value', next: 'Send the document that says what you mean.' },
  'contract-unknown': {
    title: 'No such document is known',
    next: 'Set the header ce_type, parley.order-response.v1 say.',
  },
  'contract-misplaced': {
    title: 'The document does not belong on this topic',
    next: 'Write each document to the topic that the documentation names for it.',
  },
  'message-id-missing': {
    title: 'The record has no ce_id',
    next: 'Give every message an id of its own, and the same id when you send the same message again.',
  },
  'message-id-reused': {
    title: 'The ce_id belongs to another message',
    next: 'Never give two messages the same id; send the same message again byte for byte.',
  },
  'correlation-missing': {
    title: 'The message names no exchange',
    next: 'Copy the header ce_correlationid of the request into the answer; begin a despatch advice with a new one.',
  },
  'exchange-unknown': {
    title: 'No request has this correlation id',
    next: 'Copy the header ce_correlationid of the request, byte for byte.',
  },
  'exchange-mismatch': {
    title: 'The answer does not belong to this request',
    next: 'Answer an order with an order response and a cancellation with a cancellation response, about the same order.',
  },
  'response-code-unknown': {
    title: 'The answer has a code that is not known',
    next: 'Orders are answered with AB, AP, RE or CA, cancellations with AP or RE.',
  },
  'line-unknown': { title: 'The order has no such line', next: 'Name lines by the numbers of the order.' },
  'line-repeated': { title: 'A line is named twice', next: 'Name each line of the order at most once.' },
  'illegal-transition': {
    title: 'The answer contradicts what was said before',
    next: 'Answer each request once, a repeat of it with the same answer under the same ce_id, and keep your word.',
  },
} as const;
export type FaultCode = keyof typeof FAULTS;
