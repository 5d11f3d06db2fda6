import { ACCESS_CODES } from './access-codes';
import { BROKER_CODES } from './broker-codes';
import { FAILURE_CODES } from './failure-codes';
import { NOTIFICATION_CODES } from './notification-codes';
import { ONBOARDING_CODES } from './onboarding-codes';
import { OUTBOX_CODES } from './outbox-codes';
import { PARTNER_CODES } from './partner-codes';

/** What a code means to the caller: the row of the page that a problem's `type` leads to. */
export interface ProblemCode {
  status: number;
  title: string;
  /** Why it happened and what to do next, for people. */
  help: string;
}

/**
 * The one place where a code of an {@link AppError} becomes an HTTP status. A code that is not listed is `internal`: it is
 * logged with its cause and told to nobody.
 */
export const PROBLEM_CODES: Readonly<Record<string, ProblemCode>> = {
  'malformed-json': {
    status: 400,
    title: 'The body is not JSON',
    help: 'Send one JSON object in UTF-8 with Content-Type: application/json.',
  },
  'request-malformed': {
    status: 400,
    title: 'The request cannot be read',
    help: 'The request line, its length or its body does not follow HTTP. Send it again from a sound client.',
  },
  'request-invalid': {
    status: 400,
    title: 'The request breaks a rule of its form',
    help: 'Every violation is listed in "errors" with a JSON Pointer into the body, or the name of the query parameter or header. Unknown members are refused, so that a misspelt one is not silently lost.',
  },
  'idempotency-key-missing': {
    status: 400,
    title: 'The header Idempotency-Key is missing or unfit',
    help: 'Send a value of your own (1 to 255 visible ASCII characters, a UUID say), the same one for every repeat of the same request.',
  },
  'cursor-invalid': {
    status: 400,
    title: 'The cursor is not one of ours',
    help: 'Take "nextCursor" of the page before as it is, or leave the cursor out to start again.',
  },
  'api-key-exceeds-caller': {
    status: 403,
    title: 'A key cannot make one that may more than itself',
    help: 'A new key has at most the role, the areas, the partners and the end of the key that makes it; "errors" says which is too much. Whoever can reach the database makes any key with "parley key create".',
  },
  'not-found': { status: 404, title: 'Nothing is here', help: 'Look up the path in the API description at /docs.' },
  'order-unknown': {
    status: 404,
    title: 'There is no such order',
    help: 'Order numbers are case-sensitive. GET /v1/orders lists them.',
  },
  'shipment-unknown': {
    status: 404,
    title: 'There is no such despatch',
    help: 'GET /v1/orders/{orderNumber}/shipments lists what was despatched of an order, with the numbers that the partner gave.',
  },
  'api-key-unknown': {
    status: 404,
    title: 'There is no such API key',
    help: 'GET /v1/api-keys lists them; a key that is confined to some partners sees those that are confined to the same ones.',
  },
  'replay-unknown': {
    status: 404,
    title: 'There is no such replay',
    help: 'GET /v1/replays lists them; a key that is confined to some partners sees the replays of those alone.',
  },
  'idempotency-key-in-progress': {
    status: 409,
    title: 'A request with this Idempotency-Key is still running',
    help: 'Wait a moment and send the same request again: you get the first answer.',
  },
  'order-number-taken': {
    status: 409,
    title: 'The order number is taken',
    help: 'Another request placed an order with this number. Choose another number, or leave it out and Parley numbers the order.',
  },
  'order-not-cancellable': {
    status: 409,
    title: 'The order cannot be cancelled',
    help: 'It was rejected or cancelled before, or the partner has despatched some of it. GET the order shows where it stands.',
  },
  'exchange-unknown': {
    status: 404,
    title: 'The order has no such exchange of ours',
    help: 'GET /v1/orders/{orderNumber}/exchanges lists them; only those with the direction "out" are ours to withdraw.',
  },
  'exchange-ended': {
    status: 409,
    title: 'The answer is there already',
    help: 'Nobody waits for an answer to this request any more: the partner has given it. The timeline of the order shows it.',
  },
  'cancellation-pending': {
    status: 409,
    title: 'The partner has not answered the cancellation yet',
    help: 'It was asked already. Its answer shows in "cancellation" of the order; after a refusal it can be asked again.',
  },
  'plan-changed': {
    status: 409,
    title: 'The plan is no longer what it says',
    help: 'It is older than a day, or more than a tenth of its messages are no dead letters any more. Nothing was sent. Plan again with POST /v1/replays?plan=true, look at it, and start that one.',
  },
  'replay-state': {
    status: 409,
    title: 'The replay does not stand where that is possible',
    help: 'A plan can be started or cancelled, a running replay paused or cancelled, a paused one resumed or cancelled; what is done, cancelled or expired stays so. GET the replay shows where it stands.',
  },
  'replay-behind': {
    status: 409,
    title: 'An earlier dead letter of its key holds the message',
    help: 'Messages of a key are applied in their order. Replay or discard the earlier one first; what it holds and is no dead letter follows by itself.',
  },
  'edit-pending': {
    status: 409,
    title: 'An edit of the message waits for a second person',
    help: 'Have the edit approved or refused, then replay the message.',
  },
  'body-too-large': {
    status: 413,
    title: 'The body is too large',
    help: 'Split the order. The limit is HTTP_BODY_LIMIT_BYTES (1 MiB unless set otherwise).',
  },
  'message-too-large': {
    status: 413,
    title: 'The document is larger than the topic takes',
    help: "Split the order, or have the partner's topic and channel made larger.",
  },
  'uri-too-long': { status: 414, title: 'A part of the path is too long', help: 'Shorten it; see /docs.' },
  'version-stale': {
    status: 412,
    title: 'It was changed meanwhile',
    help: 'Somebody changed it since you looked at it. GET it again, look at what is different, and send the request with the new ETag in If-Match.',
  },
  'precondition-missing': {
    status: 428,
    title: 'The header If-Match is missing',
    help: 'GET what you mean to change and send its ETag in If-Match, so that nobody overwrites what they have not seen.',
  },
  'content-type-unsupported': {
    status: 415,
    title: 'The content type is not supported',
    help: 'Send application/json.',
  },
  'idempotency-key-reused': {
    status: 422,
    title: 'The Idempotency-Key belongs to another request',
    help: 'The key was used before with another body. Take a new key for a new request.',
  },
  'order-invalid': {
    status: 422,
    title: 'The order breaks a rule',
    help: 'Every violation is listed in "errors" with a JSON Pointer into the body.',
  },
  'partner-unknown': {
    status: 422,
    title: 'There is no such partner',
    help: 'Partner ids are lower case. An administrator adds one with "parley partner add <id>".',
  },
  'channel-unknown': {
    status: 422,
    title: 'The partner takes no orders',
    help: 'The partner has no topic for orders. An administrator adds it with "parley partner add <id>".',
  },
  'document-invalid': {
    status: 422,
    title: 'The order cannot be sent as its document',
    help: 'The document made from the order breaks the contract with the partner; "errors" says where.',
  },
  ...ACCESS_CODES,
  ...BROKER_CODES,
  ...FAILURE_CODES,
  ...NOTIFICATION_CODES,
  ...ONBOARDING_CODES,
  ...OUTBOX_CODES,
  ...PARTNER_CODES,
  internal: {
    status: 500,
    title: 'Something went wrong on our side',
    help: 'Nothing was accepted. Tell the operator the traceId; the same request with the same Idempotency-Key is safe.',
  },
  'database-unavailable': {
    status: 503,
    title: 'The database cannot be reached',
    help: 'Send the same request with the same Idempotency-Key after the seconds in Retry-After.',
  },
  'registry-unavailable': {
    status: 503,
    title: 'The schema registry cannot be reached',
    help: "The schema of the partner's document is not known here yet, and the registry that has it does not answer. This request changed nothing. Send the same request with the same Idempotency-Key after the seconds in Retry-After. The operator: check SCHEMA_REGISTRY_URLS and that the registry runs.",
  },
  'registry-refused': {
    status: 503,
    title: 'The schema registry refuses us',
    help: 'This request changed nothing. The operator: check the name and password, or the token, with which Parley asks the registry (SCHEMA_REGISTRY_USERNAME, SCHEMA_REGISTRY_PASSWORD, SCHEMA_REGISTRY_TOKEN).',
  },
  'registry-unconfigured': {
    status: 503,
    title: 'No schema registry is configured',
    help: "The partner's documents need one. This request changed nothing. The operator: set SCHEMA_REGISTRY_URLS, or add the partner with --format json.",
  },
  'schema-unpublished': {
    status: 503,
    title: "The document's schema is not published",
    help: 'The registry has no schema for this document of the partner. This request changed nothing. The operator: run "parley contracts publish", then send the same request with the same Idempotency-Key.',
  },
  overloaded: {
    status: 503,
    title: 'Too many requests are waiting',
    help: 'Send the same request with the same Idempotency-Key after the seconds in Retry-After.',
  },
  'shutting-down': {
    status: 503,
    title: 'This process is stopping',
    help: 'Send the same request again; another process takes it.',
  },
};

/** Where the page of a code is: the `type` of its problems. */
export const problemPage = (code: string): string => `/docs/problems/${code}`;
