import { InfobipSmsApi } from '../../../src/notifications/channels/sms-infobip';
import { smsLetter } from '../../contract/notifications/letters';

const api = new InfobipSmsApi({
  baseUrl: 'https://sms.example',
  apiKey: () => 'key',
  sender: 'Parley',
  remembersMs: 0,
});
const letter = smsLetter();
const row = (groupId: unknown, name: string, messageId = letter.id) => ({ messageId, status: { groupId, name } });
const lookedUp = (...results: unknown[]) =>
  api.lookedUp({ status: 200, json: { results }, retryAfterMs: undefined }, letter, new Date());

describe("what Infobip's log says about a message", () => {
  it.each([
    ['it goes its way', [row(1, 'PENDING_ENROUTE')], 'found'],
    ['it is there', [row(3, 'DELIVERED_TO_HANDSET')], 'found'],
    ['an earlier one under the same id is there', [row(5, 'REJECTED_DUPLICATE_MESSAGE_ID')], 'found'],
    ['the operator had it, and never told more', [row(4, 'EXPIRED_DLR_UNKNOWN')], 'found'],
    ['one of two went out', [row(5, 'REJECTED_NOT_ENOUGH_CREDITS'), row(1, 'PENDING_ACCEPTED')], 'found'],
    ['it was given up', [row(2, 'UNDELIVERABLE_NOT_DELIVERED')], 'refused'],
    ['it expired on its way', [row(4, 'EXPIRED_EXPIRED')], 'refused'],
    ['it was refused for now', [row(5, 'REJECTED_NOT_ENOUGH_CREDITS'), row(5, 'REJECTED_NETWORK')], 'not-found'],
    ['it was refused for now, and for good', [row(5, 'REJECTED_NETWORK'), row(5, 'REJECTED_DND')], 'refused'],
    ['nothing of it', [], 'not-found'],
    ['something of a group that nobody knows', [row(0, 'OK')], 'unavailable'],
    ['nothing that can be read', [row('5', 'REJECTED_DND')], 'unavailable'],
    ['one given up, and one that can not be read', [row(5, 'REJECTED_DND'), { messageId: letter.id }], 'unavailable'],
    ['something of another message', [row(1, 'PENDING_ENROUTE', 'another')], 'unavailable'],
  ])('%s', (_, rows, kind) => expect(lookedUp(...rows)).toMatchObject({ kind }));
});

it.each([
  [503, { kind: 'unknown', retryAfterMs: 30_000 }],
  [429, { kind: 'later', retryAfterMs: 30_000 }],
])('hears from %i when to come back', (status, expected) => {
  expect(api.outcome({ status, json: undefined, retryAfterMs: 30_000 })).toMatchObject(expected);
});
