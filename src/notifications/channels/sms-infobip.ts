import type { HttpRequest } from './http-exchange';
import type { Letter, LookUpOutcome, SendOutcome } from './provider';
import type { SmsAnswer, SmsApi } from './sms-api';

export interface InfobipAccess {
  /** Of the account, without a slash at its end: https://xxxxx.api.infobip.com */
  baseUrl: string;
  /** Asked for at each request: it may rotate. */
  apiKey: () => string;
  sender: string;
  remembersMs: number;
}

/** Its log "is available for the last 48 hours"; an hour less, since clocks differ. */
const LOG_REACHES_BACK_MS = 47 * 60 * 60 * 1000;

/** Groups of Infobip's message status: 1 PENDING and 3 DELIVERED go their way; 2 UNDELIVERABLE, 4 EXPIRED and 5 REJECTED end there. */
const ON_ITS_WAY = [1, 3];
const GIVEN_UP = [2, 4, 5];
/** Handed to the operator, which never told what became of it. */
const NEVER_REPORTED = 'EXPIRED_DLR_UNKNOWN';
/** The same number or text too often in an hour. */
const FLOODING = 'REJECTED_FLOODING_FILTER';
const DUPLICATE = 'REJECTED_DUPLICATE_MESSAGE_ID';
/** Nothing about this message: money, sender and limits of the account. */
const OF_THE_ACCOUNT = new Set([
  ...['REJECTED_NOT_ENOUGH_CREDITS', 'REJECTED_PREPAID_PACKAGE_EXPIRED', 'REJECTED_SYSTEM_ERROR'],
  ...['REJECTED_SENDER', 'REJECTED_SOURCE'],
]);
/** The account has no way into the network of this number: some numbers of one country must not hold up all the others. */
const OF_THE_NETWORK = new Set(['REJECTED_ROUTE_NOT_AVAILABLE', 'REJECTED_NETWORK']);
const BAD_ADDRESS = new Set([
  ...['REJECTED_PREFIX_MISSING', 'REJECTED_DESTINATION', 'REJECTED_INVALID_DESTINATION', 'MISSING_TO'],
  ...['REJECTED_DESTINATION_NOT_REGISTERED', 'REJECTED_DESTINATION_PREFIX'],
]);

interface Status {
  groupId: number;
  name: string;
  description: string;
}

/**
 * Infobip's SMS API v3. The message id is ours: "your own identifier for a message", by which the log is asked, and, where Infobip has
 * enabled it, "retries with the same messageId within the configured grace period are rejected during processing".
 *
 * @see https://www.infobip.com/docs/developer-resources/api-fundamentals/idempotent-message-sending
 * @see https://www.infobip.com/docs/api/channels/sms/outbound-sms (POST /sms/3/messages)
 * @see https://www.infobip.com/docs/api/channels/sms/logs-and-status-reports (GET /sms/3/logs: 48 hours)
 */
export class InfobipSmsApi implements SmsApi {
  readonly remembersMs: number;

  constructor(private readonly access: InfobipAccess) {
    this.remembersMs = access.remembersMs;
  }

  sending({ id }: Letter, to: string, text: string): HttpRequest {
    const message = { sender: this.access.sender, destinations: [{ to, messageId: id }], content: { text } };
    return {
      method: 'POST',
      url: new URL(`${this.access.baseUrl}/sms/3/messages`),
      headers: { ...this.headers(), 'content-type': 'application/json' },
      body: JSON.stringify({ messages: [message] }),
    };
  }

  outcome(answer: SmsAnswer): SendOutcome {
    const { status: http, json, retryAfterMs } = answer;
    if (http >= 200 && http < 300) {
      const status = statusOf(list(json, 'messages')[0]);
      if (status) return ofStatus(status);
      return unknown('sms-answer-unreadable', `It answered ${http} without the message's status.`);
    }
    const detail = `It answered ${http}${quoted(json)}.`;
    const asked = retryAfterMs === undefined ? {} : { retryAfterMs };
    if (http === 429) return { ...later('sms-throttled', detail), ...asked };
    if (http === 401 || http === 403)
      return later('sms-not-authorized', `${detail} Check SMS_TOKEN and what it may do.`);
    if (http < 400 || http === 404 || http === 405) return later('sms-wrong-url', `${detail} Check SMS_URL.`);
    // What a gateway says when it lost the server behind it says nothing about what that server did.
    if (http >= 500 || http === 408) return { ...unknown('sms-server-error', detail), ...asked };
    const badAddress = violations(json).some((property) => property.endsWith('.to'));
    return {
      ...{ kind: 'refused', code: badAddress ? 'sms-number-refused' : 'sms-request-refused', detail },
      ...(badAddress ? { badAddress } : {}),
    };
  }

  lookingUp({ id }: Letter): HttpRequest {
    const url = new URL(`${this.access.baseUrl}/sms/3/logs`);
    url.searchParams.set('messageId', id);
    return { method: 'GET', url, headers: this.headers() };
  }

  lookedUp({ status: http, json }: SmsAnswer, letter: Letter, now: Date): LookUpOutcome {
    if (http !== 200 || !isObject(json) || !Array.isArray(json['results']))
      return unavailable('sms-log-unavailable', `Its log answered ${http}${quoted(json)}.`);
    const rows = list(json, 'results');
    const ours = rows.filter((row) => isObject(row) && row['messageId'] === letter.id);
    if (ours.length < rows.length) return unavailable('sms-log-unreadable', 'Its log answered about other messages.');
    if (ours.length === 0) return ofNoRow(letter, now);
    const statuses = ours.map(statusOf);
    const given = statuses.find((status) => status && (isOnItsWay(status) || isDuplicate(status)));
    if (given) return { kind: 'found', reference: letter.id, detail: `Its log says ${given.name}.` };
    const [first] = statuses;
    // One that can't be read may be the one that went out.
    if (!first || !statuses.every((status) => status && isGivenUp(status)))
      return unavailable('sms-log-unreadable', 'Its log does not say what became of the message.');
    // As an answer to the request it would have been tried again, too.
    if (statuses.every((status) => status && isForNow(status))) return { kind: 'not-found' };
    return { kind: 'refused', code: 'sms-undeliverable', detail: `Its log says ${first.name}: ${first.description}` };
  }

  private headers(): Record<string, string> {
    return { authorization: `App ${this.access.apiKey()}`, accept: 'application/json' };
  }
}

function ofStatus(status: Status): SendOutcome {
  const { name, description } = status;
  const detail = `It answered ${name}: ${description}`;
  if (isOnItsWay(status)) return { kind: 'accepted', detail };
  if (isDuplicate(status)) return { kind: 'accepted', code: 'sms-already-accepted', detail };
  if (!isGivenUp(status)) return unknown('sms-answer-unreadable', detail);
  if (OF_THE_NETWORK.has(name)) return { ...later('sms-no-route', detail), fault: false };
  if (OF_THE_ACCOUNT.has(name)) return later('sms-account', detail);
  if (name === FLOODING) return { ...later('sms-flooding', detail), fault: false };
  const refused = { kind: 'refused', code: 'sms-undeliverable', detail } as const;
  return BAD_ADDRESS.has(name) ? { ...refused, code: 'sms-number-refused', badAddress: true } : refused;
}

function ofNoRow({ firstBegunAt }: Letter, now: Date): LookUpOutcome {
  const age = firstBegunAt ? now.getTime() - firstBegunAt.getTime() : 0;
  return age < LOG_REACHES_BACK_MS
    ? { kind: 'not-found' }
    : unavailable('sms-log-too-short', 'Its log reaches back 48 hours, and the first attempt is older.');
}

const later = (code: string, detail: string) => ({ kind: 'later', code, detail, fault: true }) as const;
const unknown = (code: string, detail: string) => ({ kind: 'unknown', code, detail }) as const;
const unavailable = (code: string, detail: string) => ({ kind: 'unavailable', code, detail }) as const;
const isOnItsWay = ({ groupId, name }: Status): boolean => ON_ITS_WAY.includes(groupId) || name === NEVER_REPORTED;
const isGivenUp = ({ groupId }: Status): boolean => GIVEN_UP.includes(groupId);
const isForNow = ({ name }: Status): boolean =>
  OF_THE_ACCOUNT.has(name) || OF_THE_NETWORK.has(name) || name === FLOODING;
const isDuplicate = ({ name }: Status): boolean => name === DUPLICATE;

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

function list(value: unknown, member: string): readonly unknown[] {
  const items = isObject(value) ? value[member] : undefined;
  return Array.isArray(items) ? items : [];
}

function statusOf(message: unknown): Status | undefined {
  const status = isObject(message) ? message['status'] : undefined;
  if (!isObject(status)) return undefined;
  const { groupId, name, description } = status;
  if (typeof groupId !== 'number' || typeof name !== 'string') return undefined;
  return { groupId, name, description: typeof description === 'string' ? description : '' };
}

const violations = (json: unknown): readonly string[] =>
  list(json, 'violations').map((one) => (isObject(one) && typeof one['property'] === 'string' ? one['property'] : ''));

/** What an error's body says: its code and its sentence. */
function quoted(json: unknown): string {
  if (!isObject(json)) return '';
  const parts = [json['errorCode'], json['description']].filter((part) => typeof part === 'string');
  return parts.length > 0 ? ` (${parts.join(': ')})` : '';
}
