import { freePort, type SecureKafka, startKafka } from '../../../scripts/servers/index.mjs';
import {
  createKafkaAdmin,
  createLanePublisher,
  createSecurityAdmin,
  type KafkaSettings,
} from '../../../src/messaging/kafka';
import { eventually } from '../../support/eventually';
import { createTopic, readAll, uniqueName } from '../../support/kafka';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy';
import { closeAll, closing, failureOf, quiet, records, secureSettings, startSource } from './fixtures';

const SESSION_MS = 4_000;

let kafka: SecureKafka;
/** What lies between our clients and the broker; counts connections. */
let wire: TcpProxy;

async function start(extraProperties: Record<string, number>): Promise<void> {
  const port = await freePort();
  wire = await startTcpProxy({ port });
  kafka = await startKafka({ secure: true, open: true, port, wirePort: wire.port, extraProperties });
}
async function stop(): Promise<void> {
  await wire.close();
  await kafka.stop();
}
const session = {
  'listener.name.partner.scram-sha-512.connections.max.reauth.ms': SESSION_MS,
  'listener.name.internal.scram-sha-512.connections.max.reauth.ms': SESSION_MS,
};

/** A new account that may use one topic and one group, and clients under it that have each worked once. */
async function working() {
  const username = uniqueName('parley');
  const [topic, group] = [await createTopic('orders', { brokers: kafka.openBrokers }), uniqueName('group')];
  const security = closing(createSecurityAdmin(secureSettings(kafka, kafka.admin)));
  await security.putUser({ username, password: 'first' });
  const right = { principal: `User:${username}`, pattern: 'literal', permission: 'allow', host: '*' } as const;
  await security.addAcls([
    { ...right, resource: 'topic', name: topic, operation: 'Write' },
    { ...right, resource: 'topic', name: topic, operation: 'Read' },
    { ...right, resource: 'group', name: group, operation: 'Read' },
  ]);
  const settings: { -readonly [K in keyof KafkaSettings]: KafkaSettings[K] } = secureSettings(kafka, {
    username,
    password: 'first',
  });
  const lanes = closing(createLanePublisher(settings, quiet, 'test'));
  const admin = closing(createKafkaAdmin(settings));
  const { source, listener } = startSource({ topics: [topic], group, settings });
  const send = (stem: string) => lanes.send({ topic, partition: 0, records: records(stem, 1) });
  await eventually(() => send('first'));
  await admin.endOffsets(topic);
  await eventually(() => listener.seen.length === 1);
  return { topic, username, settings, security, lanes, admin, source, listener, send };
}

/** Nobody uses the clients meanwhile; the consumer's own fetches go on. */
async function idleFor(ms: number): Promise<void> {
  const until = Date.now() + ms;
  await eventually(() => Date.now() >= until, { timeout: 2 * ms });
}

describe('where the broker lets a session live for a short while', () => {
  beforeAll(() => start(session));
  afterEach(() => closeAll());
  afterAll(() => stop());

  it('connections that were idle for longer work at once, without an error and without a new one', async () => {
    const { topic, admin, source, listener, send } = await working();
    const before = wire.accepted;
    await idleFor(2.5 * SESSION_MS);
    const began = Date.now();
    await send('then');
    expect(await admin.endOffsets(topic)).toEqual(new Map([[0, 2n]]));
    await eventually(() => listener.seen.length === 2);
    // A connection that nobody answers on any more takes half a minute to be given up.
    expect(Date.now() - began).toBeLessThan(10_000);
    expect(wire.accepted).toBe(before);
    expect(source.trouble).toBeUndefined();
  });

  it('connections that are never idle go on, without an error and without a new one', async () => {
    const { source, listener, send, admin, topic } = await working();
    const before = wire.accepted;
    const until = Date.now() + 3.5 * SESSION_MS;
    let sent = 0;
    while (Date.now() < until) {
      await send(`n${sent++}-`);
      if (sent % 10 === 0) await admin.endOffsets(topic);
    }
    await eventually(() => listener.seen.length === sent + 1);
    expect(listener.values.slice(1)).toEqual(Array.from({ length: sent }, (_, n) => `n${n}-0`));
    expect(source.trouble).toBeUndefined();
    expect(wire.accepted).toBe(before);
  });

  it('a password that is changed there and then here costs nothing but the time in between', async () => {
    const { topic, username, settings, security, admin, source, listener, send } = await working();
    const acknowledged: string[] = [];
    const flow = { on: true, failures: new Set<string>() };
    const sending = flowOf(flow, send, acknowledged);
    await security.putUser({ username, password: 'second' });
    // Sessions end, and the old password opens none any more.
    await eventually(() => flow.failures.has('authentication-failed'));
    await eventually(async () => (await failureOf(admin.endOffsets(topic))).code === 'authentication-failed');
    await eventually(() => source.trouble?.includes('name and password'));
    settings.kafkaSaslPassword = 'second';
    const count = acknowledged.length;
    await eventually(() => acknowledged.length > count);
    await eventually(() => source.state === 'joined' && source.trouble === undefined);
    await eventually(() => admin.endOffsets(topic));
    flow.on = false;
    await sending;
    expect([...flow.failures]).toEqual(['authentication-failed']);
    await eventually(() => new Set(listener.values).size === acknowledged.length + 1);
    const stored = (await readAll(topic, kafka.openBrokers)).map(({ value }) => String(value));
    expect(stored.filter((value, index) => stored.indexOf(value) === index)).toEqual(['first0', ...acknowledged]);
  });

  it('a connection that is refused when it authenticates again, and reset, does not end the process', async () => {
    const { username, settings, security } = await working();
    // The listener without TLS: the refusal can be seen on the wire, and the reset follow it at once.
    const plain = closing(await startTcpProxy({ port: Number(kafka.internalBrokers.split(':')[1]) }));
    const admin = closing(createKafkaAdmin({ ...settings, kafkaSsl: false, kafkaBrokers: [plain.address] }));
    await admin.existing(['any']);
    let resets = 0;
    plain.filter((data, direction) => {
      if (direction === 'response' && data.includes('Authentication failed')) {
        setImmediate(() => {
          resets++;
          plain.cutAll();
        });
      }
      return data;
    });
    await security.putUser({ username, password: 'second' });
    await eventually(() => resets > 0);
    expect(await failureOf(admin.existing(['any']))).toMatchObject({ code: 'authentication-failed' });
  });
});

/** Sends one after the other, each until it is acknowledged, as a lane does. */
async function flowOf(
  flow: { on: boolean; failures: Set<string> },
  send: (stem: string) => Promise<unknown>,
  acknowledged: string[],
): Promise<void> {
  for (let n = 0; flow.on; n++) {
    await eventually(
      () =>
        send(`n${n}-`).then(
          () => true,
          (error: { code: string }) => void flow.failures.add(error.code),
        ),
      { timeout: 60_000, interval: 100 },
    );
    acknowledged.push(`n${n}-0`);
  }
}

describe('where the broker closes what is idle', () => {
  beforeAll(() => start({ ...session, 'connections.max.idle.ms': 2_000 }));
  afterEach(() => closeAll());
  afterAll(() => stop());

  it('the next use makes a new connection, and nothing fails', async () => {
    const { topic, admin, source, listener, send } = await working();
    const before = wire.accepted;
    await idleFor(2.5 * SESSION_MS);
    await send('then');
    expect(await admin.endOffsets(topic)).toEqual(new Map([[0, 2n]]));
    await eventually(() => listener.seen.length === 2);
    expect(wire.accepted).toBeGreaterThan(before);
    expect(source.trouble).toBeUndefined();
  });
});
