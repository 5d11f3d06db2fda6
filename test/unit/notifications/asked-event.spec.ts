import { type NotificationRequest, notificationRequest } from '../../../src/contracts';
import { kindOf, KINDS } from '../../../src/notifications/kinds/catalogue';
import { askedEvent, inDocument } from '../../../src/notifications/domain/asked-event';
import { requestHash } from '../../../src/notifications/requests/request-hash';
import { reportCode } from '../../../src/platform/http';

const AT = '2026-02-03T04:05:06.789Z';
const NOW = new Date('2026-02-03T04:06:00Z');
const request = (change: Partial<NotificationRequest> = {}): NotificationRequest => ({
  notificationId: 'invoice/4711',
  kind: 'message',
  issuedAt: AT,
  receiver: 'purchasing',
  data: [
    { name: 'title', value: 'It is ready' },
    { name: 'text', value: 'Look at it.' },
  ],
  ...change,
});
/** As somebody writes it who leaves them out. */
const without = (value: NotificationRequest, ...members: (keyof NotificationRequest)[]) =>
  Object.fromEntries(
    Object.entries(value).filter(([name]) => !members.some((one) => one === name)),
  ) as unknown as NotificationRequest;
const asked = (value: NotificationRequest) => askedEvent(value, kindOf(value.kind), ['message'], NOW);

describe('a request for a notification', () => {
  it('becomes an event whose id meets none of ours', () => {
    expect(asked(request({ orderNumber: '4500017', partner: 'acme', expiresAt: '2026-02-03T06:00:00+01:00' }))).toEqual(
      {
        id: 'request/invoice/4711',
        kind: 'message',
        at: new Date(AT),
        to: { receiver: 'purchasing', channel: undefined },
        data: { title: 'It is ready', text: 'Look at it.', orderNumber: '4500017' },
        orderNumber: '4500017',
        partner: 'acme',
        expiresAt: new Date('2026-02-03T05:00:00Z'),
      },
    );
  });

  it('has in the contract examples that may be asked for', () => {
    for (const example of notificationRequest.examples) expect(asked(example)).not.toHaveProperty('code');
  });

  it('says its order once, or otherwise in the text', () => {
    const [title, text] = request().data as [never, never];
    const other = request({ orderNumber: '1', data: [title, text, { name: 'orderNumber', value: 'No. 1' }] });
    expect(asked(other)).toMatchObject({ data: { orderNumber: 'No. 1' } });
    const code = request({ kind: 'confirmation-code', orderNumber: '1', data: [{ name: 'code', value: '1' }] });
    expect(asked(code)).toMatchObject({ data: { code: '1' }, orderNumber: '1' });
  });

  it('happened no later than now, whatever its clock says', () => {
    expect(asked(request({ issuedAt: '2026-02-03T05:06:00Z' }))).toMatchObject({ at: NOW });
  });

  it.each([
    ['kind-unknown', '/kind', request({ kind: 'telegram' })],
    ['kind-unknown', '/kind', request({ kind: 'order-accepted' })],
    ['destination-unclear', '/receiver', without(request(), 'receiver')],
    ['destination-unclear', '/receiver', without(request({ channel: 'sms' }), 'receiver')],
    ['destination-unclear', '/channel', without(request({ address: 'a@example.com' }), 'receiver')],
    ['destination-unclear', '/address', request({ channel: 'email', address: 'a@example.com' })],
    ['channel-unfit', '/channel', request({ channel: 'fax' })],
    ['channel-unfit', '/channel', without(request({ channel: 'webhook', address: 'https://a.example' }), 'receiver')],
    ['time-unfit', '/issuedAt', request({ issuedAt: '2026-02-03T23:59:60Z' })],
    ['time-unfit', '/expiresAt', request({ expiresAt: '2026-02-03T04:05:06+99:00' })],
    ['time-unfit', '/expiresAt', request({ expiresAt: AT })],
    ['data-unknown', '/data/0/name', request({ data: [{ name: 'titel', value: 'x' }] })],
    ['data-unknown', '/data/0/name', request({ data: [{ name: 'constructor', value: 'x' }] })],
    ['data-repeated', '/data/1/name', request({ data: ['a', 'b'].map((value) => ({ name: 'title', value })) })],
  ])('is refused with %s at %s', (code, pointer, value) => {
    const fault = asked(value);
    expect(fault).toMatchObject({ code: `notification-${code}`, pointer });
    // What it quotes of the document is in no rule of ours.
    expect(JSON.stringify(fault)).not.toContain('a@example.com');
  });

  it('is told of a fault that shows later at its own place of the document', () => {
    const pointers = ['/to/receiver', '/to/channel', '/to/address', '/data/title', '/kind', '/id'];
    expect(pointers.map((pointer) => inDocument({ code: 'c', detail: 'd', pointer }).pointer)).toEqual([
      ...['/receiver', '/channel', '/address', '/data', '/kind', '/notificationId'],
    ]);
  });

  it('can be made of every kind that other systems may ask for', () => {
    for (const kind of KINDS.filter(({ source }) => source === 'request')) {
      const data = Object.entries(kind.example).map(([name, value]) => ({ name, value: String(value) }));
      expect([kind.name, asked(request({ kind: kind.name, data }))]).toEqual([
        kind.name,
        expect.objectContaining({ data: kind.example }),
      ]);
    }
  });

  it.each(['kind-unknown', 'destination-unclear', 'receiver-unknown', 'receiver-unreachable', 'channel-unfit'])(
    'has a page for notification-%s',
    (code) => expect(reportCode(`notification-${code}`)).toBeDefined(),
  );
  it.each(['address-unfit', 'data-missing', 'data-unknown', 'data-repeated', 'time-unfit', 'id-reused'])(
    'has a page for notification-%s',
    (code) => expect(reportCode(`notification-${code}`)).toBeDefined(),
  );
});

describe('what tells two requests under one id apart', () => {
  const first = requestHash(request({ expiresAt: '2026-02-03T06:00:00+01:00' }));

  it('is neither the order of its data, nor how a time is written, nor when it was asked', () => {
    const { data } = request();
    const again = { issuedAt: '2026-02-03T05:05:06Z', data: data.toReversed(), expiresAt: '2026-02-03t05:00:00.000z' };
    expect(requestHash(request(again))).toBe(first);
  });

  it.each<Partial<NotificationRequest>>([
    { kind: 'announcement' },
    { receiver: 'sales' },
    { channel: 'email' },
    { address: 'purchasing' },
    { data: [{ name: 'title', value: 'It is ready' }] },
    { orderNumber: '1' },
    { partner: 'acme' },
    { expiresAt: '2026-02-03T05:00:01Z' },
  ])('is %j', (change) => {
    expect(requestHash(request({ expiresAt: '2026-02-03T05:00:00Z', ...change }))).not.toBe(first);
  });
});
