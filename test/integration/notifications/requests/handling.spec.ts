import { orderResponse, topicFor, typeOf } from '../../../../src/contracts';
import { eventually } from '../../../support/eventually';
import { hold } from '../../../support/faults';
import { subscribe } from '../../../support/receivers';
import { countLockWaiters } from '../../../support/lock-waiters';
import { lockWaiters } from '../../consumer/harness';
import {
  aRequest,
  deathsOf,
  madeOf,
  openRequests,
  reportsOn,
  requestRecord,
  type RequestsWorld,
} from './requests-world';

let world: RequestsWorld;
let deliver: ReturnType<RequestsWorld['consumer']>;
beforeAll(async () => {
  world = await openRequests();
  deliver = world.consumer();
  await subscribe(world.database, { id: 'purchasing', kinds: [] });
  await world.database.query(
    `INSERT INTO notification_receiver (id, name, phone, created_at, updated_at) VALUES ('gate', 'Gate', '+4930123456', now(), now())`,
  );
});
afterAll(() => world.close());

const email = { receiver: undefined, channel: 'email', address: 'kim.doe@example.com' };

describe('a request for a notification', () => {
  it('makes one, to the receiver that it names, by the first channel that there is', async () => {
    await deliver(
      requestRecord(aRequest('to-receiver')),
      requestRecord(aRequest('to-gate', { receiver: 'gate' })),
      requestRecord(aRequest('by-webhook', { channel: 'webhook' })),
      requestRecord(aRequest('to-address', email)),
    );
    const [title, text] = ['It is ready', 'Look at it.'];
    expect(await madeOf(world, 'to-receiver')).toEqual([
      {
        ...{ receiver: 'purchasing', channel: 'email', address: 'purchasing@example.com', state: 'pending' },
        data: { title, text },
      },
    ]);
    expect(await madeOf(world, 'to-gate')).toMatchObject([{ channel: 'sms', address: '+4930123456' }]);
    expect(await madeOf(world, 'by-webhook')).toMatchObject([{ channel: 'webhook' }]);
    expect(await madeOf(world, 'to-address')).toMatchObject([{ receiver: null, address: 'kim.doe@example.com' }]);
  });

  it('has its effect once, however often it comes and under whichever message ids', async () => {
    const asked = aRequest('again');
    await deliver(requestRecord(asked, { id: 'm-1' }), requestRecord(asked, { id: 'm-2' }));
    await deliver(requestRecord(asked, { id: 'm-1' }), requestRecord(asked, { id: 'm-3' }));
    await world.consumer()(requestRecord({ ...asked, issuedAt: new Date().toISOString() }, { id: 'm-4' }));
    expect(await madeOf(world, 'again')).toHaveLength(1);
    expect(await deathsOf(world, 'again')).toEqual([]);
  });

  it.each<[string, Parameters<typeof aRequest>[1]]>([
    ['other words', { data: [{ name: 'title', value: 'Other' }] as never }],
    ['another receiver', { receiver: 'gate' }],
    ['another channel', { channel: 'webhook' }],
    ['an address', { ...email }],
  ])('is dead where its id was used for something else: %s', async (what, other) => {
    const id = `reused/${what.replaceAll(' ', '-')}`;
    const second = aRequest(id, other);
    if (other?.data) second.data.push({ name: 'text', value: 'Other words.' });
    await deliver(requestRecord(aRequest(id)), requestRecord(second));
    await deliver(requestRecord(second));
    expect(await madeOf(world, id)).toMatchObject([{ channel: 'email', data: { title: 'It is ready' } }]);
    expect(await deathsOf(world, id)).toEqual([
      ['notification-id-reused', '/notificationId'],
      ['notification-id-reused', '/notificationId'],
    ]);
    expect(await reportsOn(world, id)).toMatchObject([
      { code: 'notification-id-reused', title: 'The notificationId belongs to another request' },
      { code: 'notification-id-reused', pointer: '/notificationId' },
    ]);
  });

  it.each<[string, string, Parameters<typeof aRequest>[1]]>([
    ['notification-receiver-unknown', '/receiver', { receiver: 'purchasign' }],
    ['notification-receiver-unreachable', '/receiver', { receiver: 'gate', channel: 'email' }],
    ['notification-channel-unfit', '/channel', { kind: 'announcement', channel: 'webhook' }],
    ['notification-address-unfit', '/address', { ...email, address: 'Kim <kim.doe@example.com>' }],
    ['notification-address-unfit', '/address', { ...email, address: 'kim.doe@example.com\r\nBcc: x@example.com' }],
    ['notification-data-missing', '/data', { data: [{ name: 'title', value: 'Kim Doe' }] }],
    ['notification-kind-unknown', '/kind', { kind: 'order-accepted' }],
    ['notification-destination-unclear', '/address', { ...email, receiver: 'purchasing' }],
    ['partner-unknown', '/partner', { partner: 'umbra' }],
    ['invalid', '/expiresAt', { expiresAt: 'tomorrow' }],
  ])('is refused with %s at %s, its system hears of it, and nobody else is held', async (code, pointer, change) => {
    const id = `refused/${JSON.stringify(change)}`.replaceAll(/[^!-~]/g, '').slice(0, 60);
    await deliver(requestRecord(aRequest(id, change)), requestRecord(aRequest(`beside/${id}`, { partner: 'acme' })));
    expect(await madeOf(world, id)).toEqual([]);
    expect(await deathsOf(world, id)).toEqual([[code, pointer]]);
    const [report] = await reportsOn(world, id);
    expect(report).toMatchObject({
      code,
      pointer,
      topic: 'notifications.request.v1',
      messageType: expect.any(String) as string,
    });
    expect(report?.type).toBe(`/docs/problems/${code}`);
    // Neither an address nor what it says.
    expect(JSON.stringify({ ...report, subject: '' })).not.toMatch(/kim/i);
    expect(await madeOf(world, `beside/${id}`)).toHaveLength(1);
  });

  it('may be asked for again under its id when what was wrong with it is mended', async () => {
    await deliver(requestRecord(aRequest('mended', { receiver: 'nobody' })));
    await deliver(requestRecord(aRequest('mended')));
    expect(await madeOf(world, 'mended')).toHaveLength(1);
  });

  it('that comes when nobody needs it any more is recorded, and over before it is sent', async () => {
    const issuedAt = '2026-01-01T00:00:00Z';
    await deliver(requestRecord(aRequest('late', { issuedAt, expiresAt: '2026-01-01T00:10:00Z' })));
    const rows = await world.database.query(
      `SELECT state, expires_at < now() AS over FROM notification WHERE event_id = 'request/late'`,
    );
    expect(rows).toEqual([{ state: 'pending', over: true }]);
  });
});

describe('the same id asked for by two at once', () => {
  /** Both stand before the insert when the first of them goes on. */
  async function together(first: ReturnType<typeof aRequest>, second: ReturnType<typeof aRequest>): Promise<void> {
    const heal = await hold(world.url, 'LOCK TABLE notification IN SHARE MODE');
    const both = [first, second].map((one) => world.consumer()(requestRecord(one)));
    await eventually(async () => (await countLockWaiters(world.database)) === 2, { what: 'both wait' });
    expect(await lockWaiters(world)).toBe(true);
    await heal();
    await Promise.all(both);
  }

  it('has one effect where they ask for the same', async () => {
    for (let n = 0; n < 5; n++) {
      await together(aRequest(`race/${n}`), aRequest(`race/${n}`));
      expect(await madeOf(world, `race/${n}`)).toHaveLength(1);
      expect(await deathsOf(world, `race/${n}`)).toEqual([]);
    }
  });

  it('has one effect, and one dead letter, where they do not', async () => {
    for (let n = 0; n < 5; n++) {
      await together(aRequest(`contest/${n}`), aRequest(`contest/${n}`, email));
      expect(await madeOf(world, `contest/${n}`)).toHaveLength(1);
      expect(await deathsOf(world, `contest/${n}`)).toEqual([['notification-id-reused', '/notificationId']]);
      expect(await reportsOn(world, `contest/${n}`)).toHaveLength(1);
    }
  });
});

describe('a document on a topic of others', () => {
  it('is unknown there: a partner asks for nothing, and hears nothing of what could be asked for', async () => {
    const record = requestRecord(aRequest('smuggled'), { topic: topicFor(orderResponse, 'acme') });
    await deliver(record);
    expect(await madeOf(world, 'smuggled')).toEqual([]);
    expect(await deathsOf(world, 'smuggled')).toEqual([['contract-unknown', null]]);
    const [report] = await world.database.query<{ topic: string; payload: Buffer }>(
      `SELECT topic, payload FROM outbox_message WHERE aggregateid = 'smuggled'`,
    );
    expect(report?.topic).toBe('errors.acme.v1');
    expect(String(report?.payload)).not.toContain('notifications.');
  });

  it("is unknown where our own systems write a partner's", async () => {
    const record = requestRecord(aRequest('answer'));
    await deliver({ ...record, headers: { ...record.headers, ce_type: typeOf(orderResponse) } });
    expect(await deathsOf(world, 'answer')).toEqual([['contract-unknown', null]]);
  });
});
