import { readFileSync } from 'node:fs';
import {
  type ErrorReport,
  errorReport,
  notificationRequest,
  OWN_SYSTEMS,
  topicFor,
  typeOf,
} from '../../../../src/contracts';
import { parsePartnerFile, type PartnerFile } from '../../../../src/partners';
import { eventually } from '../../../support/eventually';
import { testConfig } from '../../../support/config';
import { atEnd } from '../../../support/faults';
import { asAdministrator, asParley, doorOf, NEVER_KILLED, startGuardedKafka } from '../../../support/guarded-kafka';
import { type KafkaDoor, produce, readAll, refusalsIn, withAdmin } from '../../../support/kafka';
import { onboard } from '../../../support/partners';
import { type Onboarded, openStage, type Stage } from '../../attacks/stage';
import { aRequest } from './requests-world';

const TOPIC = topicFor(notificationRequest, OWN_SYSTEMS);
const ERRORS = topicFor(errorReport, OWN_SYSTEMS);
const SOON = { timeout: 60_000, interval: 100 };

let stage: Stage;
let acme: Onboarded;
let shop: KafkaDoor;
// The company has one id: with any other spec's its account would be shared.
beforeAll(async () => {
  const kafka = await startGuardedKafka({ extraProperties: NEVER_KILLED });
  atEnd(() => kafka.stop());
  stage = await openStage({ DATABASE_POOL_SIZE: '8' }, kafka);
  const { databaseUrl, kafkaConsumerGroup } = stage.config;
  const env = { ...asParley(kafka), ...asAdministrator(kafka), KAFKA_CONSUMER_GROUP: kafkaConsumerGroup };
  const { partner, name } = parsePartnerFile(readFileSync('docs/partners/company.yaml', 'utf8')) as PartnerFile;
  const file = { partner, name: String(name), format: 'json', partitions: 1 } as const;
  const { plan, account } = await onboard(stage.database, testConfig(databaseUrl, env), file);
  expect(plan.changes.filter(({ kind }) => kind === 'topic').map(({ name }) => name)).toEqual([
    ERRORS,
    TOPIC,
    `${TOPIC}-dlt`,
  ]);
  shop = doorOf(kafka, { username: String(account?.username), password: String(account?.password) });
  acme = await stage.onboard('acme');
}, 180_000);
afterAll(() => stage.close(), 60_000);

const ask = (value: ReturnType<typeof aRequest>, id: string, door = shop) => {
  const headers = { ce_specversion: '1.0', ce_id: id, ce_source: '/shop', ce_type: typeOf(notificationRequest) };
  return produce(TOPIC, [{ key: value.notificationId, value: JSON.stringify(value), headers }], door);
};

const made = (notificationId: string) =>
  stage.database.query<{ state: string }>('SELECT state FROM notification WHERE event_id = :id', {
    id: `request/${notificationId}`,
  });

/** Who can't do it is told so by the broker. */
async function refused(work: Promise<unknown>, refusal = 'TOPIC_AUTHORIZATION_FAILED'): Promise<void> {
  const said = await work.then(
    () => [],
    (error: unknown) => refusalsIn(error),
  );
  expect(said).toEqual([refusal]);
}

describe('our own systems at a broker that lets nobody do what is not given', () => {
  it('come in as company.1, which may ask and read what was refused, and nothing else', async () => {
    expect(shop.account.username).toBe('company.1');
    await ask(aRequest('asked', { receiver: undefined, channel: 'email', address: 'kim@example.com' }), 'asked');
    await eventually(async () => (await made('asked')).length === 1, { ...SOON, what: 'it is made' });
    await readAll(ERRORS, shop);
    for (const topic of [...Object.values(acme.topics), `${TOPIC}-dlt`, ERRORS])
      await refused(produce(topic, [{ key: 'k', value: '{}', partition: 0 }], shop));
    for (const topic of [...Object.values(acme.topics), `${TOPIC}-dlt`, TOPIC]) await refused(readAll(topic, shop));
    await refused(withAdmin(shop, (admin) => admin.createTopics({ topics: ['made'], partitions: 1, replicas: 1 })));
  });

  it('are not to be played by a partner: it can neither ask, nor read what was refused', async () => {
    await refused(ask(aRequest('by-acme'), 'by-acme', acme.door));
    for (const topic of [TOPIC, `${TOPIC}-dlt`, ERRORS]) await refused(readAll(topic, acme.door));
    expect(await made('by-acme')).toEqual([]);
  });

  it('hear of a receiver that is not there, without what they said of people', async () => {
    const data = [
      { name: 'code', value: 'secret-493817' },
      { name: 'purpose', value: 'signing in' },
    ];
    await ask(aRequest('no-receiver', { receiver: 'nobody', kind: 'confirmation-code', data }), 'no-receiver');
    const reports = await eventually(
      async () => {
        const all = (await readAll(ERRORS, shop)).map(({ value }) => JSON.parse(String(value)) as ErrorReport);
        const own = all.filter(({ subject }) => subject === 'no-receiver');
        return own.length > 0 ? own : undefined;
      },
      { ...SOON, what: 'its report' },
    );
    expect(reports).toMatchObject([
      {
        ...{ code: 'notification-receiver-unknown', pointer: '/receiver', messageId: 'no-receiver', topic: TOPIC },
        detail: 'There is no such receiver.',
      },
    ]);
    expect(JSON.stringify(reports)).not.toContain('secret');
  });

  it('have dead letters that show nobody an address or what is said', async () => {
    const address = 'Kim Doe <kim.doe@example.com>';
    const data = [
      { name: 'title', value: 'secret-title' },
      { name: 'text', value: 'secret-text' },
    ];
    await ask(aRequest('unfit', { receiver: undefined, channel: 'email', address, data }), 'unfit');
    const [letter] = await eventually(
      async () => {
        const { json } = await stage.ask('GET', '/v1/dead-letters?partner=company&order=unfit');
        const items = json['items'] as { id: string; code: string }[];
        return items.length > 0 ? items : undefined;
      },
      { ...SOON, what: 'its dead letter' },
    );
    expect(letter?.code).toBe('notification-address-unfit');
    const { status, body, json } = await stage.ask('GET', `/v1/dead-letters/${letter?.id}`);
    expect(status).toBe(200);
    expect(body).not.toMatch(/kim|secret/i);
    expect((json['content'] as { document: unknown }).document).toMatchObject({
      notificationId: 'unfit',
      address: '•••',
      data: [{ name: 'title', value: '•••0' }, {}],
    });
    expect(JSON.stringify(stage.lines)).not.toMatch(/kim\.doe|secret-/i);
  });

  it('are suspended and resumed as a partner is: what they ask for meanwhile waits', async () => {
    const change = async (verb: string) =>
      (await stage.ask('POST', `/v1/partners/company/${verb}`, { reason: 'a loop' })).status;
    expect(await change('suspension')).toBe(200);
    await ask(aRequest('waits', { receiver: undefined, channel: 'email', address: 'kim@example.com' }), 'waits');
    const parked = () =>
      stage.database.query(`SELECT 1 FROM parked_inbound WHERE partner = 'company' AND key = 'waits'`);
    await eventually(async () => (await parked()).length === 1, { ...SOON, what: 'it waits' });
    expect(await made('waits')).toEqual([]);
    expect(await change('resumption')).toBe(200);
    await eventually(async () => (await made('waits')).length === 1, { ...SOON, what: 'it is made' });
  });

  it('take no orders', async () => {
    const order = {
      ...{ partner: OWN_SYSTEMS, currency: 'EUR' },
      lines: [{ lineNumber: 1, item: 'A-1', quantity: '2', unit: 'C62', unitPrice: '9.99' }],
    };
    const { status, json } = await stage.ask('POST', '/v1/orders', order, { 'idempotency-key': 'k' });
    expect([status, json['code'], json['detail']]).toEqual([
      422,
      'channel-unknown',
      '"company" are our own systems, which take no orders.',
    ]);
  });
});
