import { readFileSync } from 'node:fs';
import { changesOf } from '../../../../src/cli/notifications/receivers/changes';
import { fileOf, parseReceiverFile } from '../../../../src/cli/notifications/receivers/file';
import type { ReceiverDto } from '../../../../src/notifications';
import { KINDS } from '../../../../src/notifications/kinds/catalogue';

const EXAMPLE = readFileSync('docs/notifications/ops-desk.yaml', 'utf8');

const stored = (change: Partial<ReceiverDto> = {}): ReceiverDto => ({
  ...{ id: 'ops-desk', version: 3, name: 'Ops', email: '•••', phone: null, webhookUrl: null, webhook: null },
  quietHours: { from: '22:00', to: '07:00', timeZone: 'Europe/Berlin' },
  subscriptions: [
    { kind: 'order-rejected', channels: ['email'], partners: null },
    { kind: 'order-overdue', channels: ['email'], partners: ['acme'] },
  ],
  ...{ badAddresses: [], createdAt: '2026-02-03T04:05:06.789Z', updatedAt: '2026-02-03T04:05:06.789Z' },
  ...change,
});

describe("a receiver's file", () => {
  it('is the one of the docs, which names kinds and channels that there are', () => {
    const { subscriptions } = parseReceiverFile(EXAMPLE);
    expect(subscriptions).toHaveLength(3);
    for (const { kind, channels } of subscriptions)
      expect(KINDS.find(({ name }) => name === kind)?.channels).toEqual(expect.arrayContaining(channels));
  });

  it('that is written from a receiver changes nothing', () => {
    const file = fileOf(stored());
    expect(file).toContain('email: •••');
    expect(changesOf(stored(), parseReceiverFile(file))).toEqual([]);
  });

  it.each([
    ['no YAML', 'name: [', 'receiver-file-unreadable', /^The file is not YAML/],
    ['aliases', 'a: &a [1]\nb: *a\n', 'receiver-file-unreadable', /^The file is not YAML/],
    ['a list', '- 1\n', 'receiver-file-invalid', /members/],
    ['a phone number without quotes', 'phone: +4915112345678\nsubscriptions: []\n', 'receiver-file-invalid', /number/],
    ['no subscriptions', 'name: x\n', 'receiver-file-invalid', /subscriptions/],
    ['a kind alone', 'subscriptions: [order-accepted]\n', 'receiver-file-invalid', /subscriptions/],
    [
      'a partner that is no list',
      'subscriptions: [{ kind: order-accepted, channels: [email], partners: acme }]\n',
      'receiver-file-invalid',
      /subscriptions/,
    ],
    ['quiet hours in a line', 'quietHours: 22-7\nsubscriptions: []\n', 'receiver-file-invalid', /quietHours/],
  ])('that has %s is refused in words', (_, text, code, message) => {
    expect(() => parseReceiverFile(text)).toThrow(
      expect.objectContaining({ code, message: expect.stringMatching(message) as string }) as Error,
    );
  });
});

describe('what a file changes', () => {
  const body = (change: object = {}) => ({ ...parseReceiverFile(fileOf(stored())), ...change });

  it('is all of it where there is no such receiver', () => {
    expect(changesOf(undefined, parseReceiverFile(EXAMPLE))).toEqual([
      '  + e-mail address: the one in the file',
      '  + phone number: the one in the file',
      '  + webhook URL: the one in the file',
      '  + name: Operations desk',
      '  + quiet hours: 22:00 to 07:00, Europe/Berlin',
      '  + order-rejected over email: about all partners',
      '  + order-rejected over webhook: about all partners',
      '  + order-overdue over email: about acme, umbra',
      '  + order-overdue over sms: about acme, umbra',
      '  + dead-letters-open over email: about all partners',
    ]);
  });

  it('is said for each channel of each kind, however the file groups them', () => {
    const subscriptions = [
      { kind: 'order-overdue', channels: ['email'] },
      { kind: 'order-rejected', channels: ['sms'] },
    ];
    expect(changesOf(stored(), body({ subscriptions, quietHours: null, name: 'Desk' }))).toEqual([
      '  ~ name: Ops → Desk',
      '  ~ order-overdue over email: about acme → about all partners',
      '  + order-rejected over sms: about all partners',
      '  - quiet hours: 22:00 to 07:00, Europe/Berlin',
      '  - order-rejected over email: about all partners',
    ]);
  });

  it('tells of an address that there is one, never which', () => {
    const changes = changesOf(stored({ phone: '•••' }), body({ email: 'new@example.com', phone: null }));
    expect(changes).toEqual([expect.stringMatching(/^ {2}~ e-mail address: the one in the file/), '  - phone number']);
    expect(changes.join()).not.toContain('example.com');
  });
});
