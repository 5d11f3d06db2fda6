import {
  createSchemaRegistry,
  RegistryUnavailable,
  type SchemaRegistry,
  TopicSchemas,
} from '../../../src/messaging/registry';
import { eventually } from '../../support/eventually';
import { type Answering, registryOf, type ReplayServer, startReplay } from './replay-server';

const TOPIC = 'orders.acme.response.v1';
const OWN = `${TOPIC}-parley.v1.OrderResponse`;
const PLAIN = `${TOPIC}-value`;
const SUBJECTS = [OWN, PLAIN];
const START = Date.parse('2026-01-01T00:00:00Z');

describe('the schemas of a topic', () => {
  let server: ReplayServer;
  let registry: SchemaRegistry;
  let schemas: TopicSchemas;
  let now: number;
  let pauses: number[];
  const good = registryOf({ [OWN]: [11, 12], [PLAIN]: [21], 'foreign-value': [31] });
  /** Each refresh lists the plain subject once. */
  const refreshes = () =>
    server.heard.filter(({ line }) => line === `GET /subjects/${PLAIN}/versions?deleted=true`).length;
  const find = (id: number | string, seenAt = now) => schemas.find(TOPIC, SUBJECTS, id, seenAt);

  beforeEach(async () => {
    server = await startReplay(good);
    registry = createSchemaRegistry({ schemaRegistryUrls: [server.url], schemaRegistryDeadlineMs: 10_000 });
    now = START;
    pauses = [];
    schemas = new TopicSchemas(registry, {
      clock: { now: () => new Date(now) },
      pause: async (ms) => {
        pauses.push(ms);
        now += ms;
      },
    });
  });
  afterEach(async () => {
    await registry.close();
    await server.stop();
  });

  it('are found by id, of whichever subject of the topic, and then answered from memory', async () => {
    expect(schemas.peek(TOPIC, SUBJECTS, 12)).toBeUndefined();
    expect(await find(12)).toMatchObject({ id: 12, subject: OWN, version: 2 });
    expect(schemas.peek(TOPIC, SUBJECTS, 12)).toMatchObject({ id: 12 });
    const asked = server.heard.length;
    expect(await find(21)).toMatchObject({ id: 21, subject: PLAIN });
    expect(server.heard).toHaveLength(asked);
  });

  it('are no schemas of another subject, though the registry knows the id', async () => {
    expect(await find(31)).toBeUndefined();
    expect(await schemas.find('foreign', ['foreign-value'], 31, now)).toMatchObject({ id: 31 });
    expect(await find(31)).toBeUndefined();
  });

  it('are no schemas of another document on the same topic', async () => {
    expect(await schemas.find(TOPIC, [PLAIN], 11, now)).toBeUndefined();
    expect(await find(11)).toMatchObject({ id: 11 });
    expect(await schemas.find(TOPIC, [PLAIN], 11, now)).toBeUndefined();
  });

  it('are found by guid in either case of letters', async () => {
    server.answering = (heard, response) =>
      heard.line.includes('/versions/')
        ? { body: { version: 1, id: 5, guid: '6D0A11F6-5F1A-3B52-8A53-2B6A1E8D2C11', schema: '"int"' } }
        : good({ ...heard, line: heard.line.replace(OWN, PLAIN) }, response);
    expect(await find('6d0a11f6-5f1a-3b52-8a53-2b6a1e8d2c11')).toMatchObject({ id: 5 });
  });

  it('are listed once for a flood of unknown ids', async () => {
    const flood = Array.from({ length: 500 }, (_, index) => find(1000 + index));
    expect(new Set(await Promise.all(flood))).toEqual(new Set([undefined]));
    expect(refreshes()).toBe(1);
    expect(pauses).toEqual([]);
  });

  it('are listed once for many that ask for a known id at the same time', async () => {
    const found = await Promise.all(Array.from({ length: 100 }, () => find(11)));
    expect(found.every((schema) => schema?.id === 11)).toBe(true);
    expect(refreshes()).toBe(1);
  });

  it('are listed once a second, by waiting for the rest of it', async () => {
    await find(1000);
    now += 300;
    await find(1001);
    expect(pauses).toEqual([700]);
    now += 1000;
    await find(1002);
    expect(pauses).toEqual([700]);
    expect(refreshes()).toBe(3);
  });

  it('lack an id for 30 s without being asked, and are then asked again', async () => {
    await find(1000);
    for (const later of [1, 1000, 28_000]) {
      now += later;
      expect(await find(1000)).toBeUndefined();
    }
    expect(refreshes()).toBe(1);
    now += 1000;
    server.answering = registryOf({ [OWN]: [11, 12], [PLAIN]: [21, 1000] });
    expect(await find(1000)).toMatchObject({ id: 1000 });
  });

  it('are believed to lack an id only if they were listed after its record was seen', async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    server.answering = async (heard, response) => {
      await held;
      return good(heard, response);
    };
    const early = find(1000);
    await eventually(() => refreshes() === 1);
    // Registered and used while that listing, which may not show it, is under way.
    now += 10;
    const late = find(1001);
    server.answering = registryOf({ [OWN]: [11, 12], [PLAIN]: [21, 1001] });
    release();
    expect(await early).toBeUndefined();
    expect(await late).toMatchObject({ id: 1001 });
    expect(refreshes()).toBe(2);
  });

  it('listed after a record was seen need not be listed again for it', async () => {
    const seenAt = now;
    now += 50;
    await find(11);
    expect(await find(1000, seenAt)).toBeUndefined();
    expect(refreshes()).toBe(1);
  });

  it('do not wait for a clock that was set back', async () => {
    await find(11);
    const seenAt = now + 1;
    now -= 3_600_000;
    expect(await find(1000, seenAt)).toBeUndefined();
    expect(await find(1001, now + 5_000_000)).toBeUndefined();
    expect(refreshes()).toBe(3);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(1000);
  });

  it.each<[string, Answering]>([
    ['is ill', () => ({ status: 503 })],
    ['refuses us', () => ({ status: 401, body: { error_code: 401, message: 'Unauthorized' } })],
  ])('are an outage when the registry %s, and nothing is believed missing', async (_, fault) => {
    server.answering = fault;
    await expect(find(11)).rejects.toBeInstanceOf(RegistryUnavailable);
    server.answering = good;
    expect(await find(11)).toMatchObject({ id: 11 });
    expect(await find(12)).toMatchObject({ id: 12 });
  });

  it('are answered from memory while the registry is away', async () => {
    await find(11);
    server.answering = () => ({ status: 503 });
    now += 1;
    expect(await find(12)).toMatchObject({ id: 12 });
    await expect(find(1000)).rejects.toBeInstanceOf(RegistryUnavailable);
  });

  it('stay readable when a version beyond our limits stands beside them', async () => {
    server.answering = (heard, response) =>
      heard.line.includes(`${OWN}/versions/2`)
        ? { body: { version: 2, id: 12, schema: '['.repeat(100) } }
        : good(heard, response);
    expect(await find(11)).toMatchObject({ id: 11 });
    expect(await find(12)).toBeUndefined();
  });
});
