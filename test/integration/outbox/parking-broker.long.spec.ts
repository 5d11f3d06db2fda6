import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Admin } from '@platformatic/kafka';
import { pino } from 'pino';
import { type SecureKafka, startKafka, startKafkaCluster } from '../../../scripts/servers/index.mjs';
import { createLanePublisher } from '../../../src/messaging/kafka';
import { createRelay, type Relay } from '../../../src/messaging/outbox';
import type { Config } from '../../../src/platform/config';
import { testConfig } from '../../support/config';
import { createTopic, readAll, uniqueName } from '../../support/kafka';
import { makeReadOnly, removeTopic, revoke, right, setOnTopic } from '../../support/topic-faults';
import { addRows, Bench, until } from './harness';

const PARKING = { afterMs: 1500, lookMs: 100, backoff: { initialMs: 200, maxMs: 500 } };
const firsts = async (topic: string, partition: number, brokers?: string) => [
  ...new Set(
    (await readAll(topic, brokers))
      .filter((record) => record.partition === partition)
      .map((record) => String(record.headers['ce_id'])),
  ),
];

describe('a relay with one topic in trouble', () => {
  const bench = new Bench();
  beforeEach(() => bench.open());
  afterEach(() => bench.close());

  const relayWith = (config: Config): Relay => {
    const logger = pino({ level: 'silent' });
    const publisher = createLanePublisher(config, logger, 'relay');
    bench.onClose(() => publisher.close());
    const relay = createRelay({
      database: { connection: bench.url },
      publisher,
      quarantine: () => createLanePublisher(config, logger, 'relay-quarantine'),
      source: '/parley/test',
      instance: 'test',
      log: logger,
      leaseMs: 2000,
      parking: PARKING,
    });
    bench.onClose(() => relay.stop(1000));
    relay.start();
    return relay;
  };

  /** Writes one row a key and turn to both topics, until stopped; ids by topic and partition, in order. */
  const writer = async (topics: readonly string[], partitions: number) => {
    const client = await bench.client();
    const ids = new Map<string, string[]>();
    let [writing, paused] = [true, false];
    let turn: Promise<void> = Promise.resolve();
    const write = async () => {
      const rows = topics.flatMap((topic) =>
        Array.from({ length: 4 }, (_, n) => ({ key: `k${n}`, topic, partition: n % partitions })),
      );
      const added = await addRows(client, rows);
      rows.forEach(({ topic, partition }, n) => {
        const lane = `${topic}/${partition}`;
        ids.set(lane, [...(ids.get(lane) ?? []), added[n] ?? '']);
      });
    };
    const done = (async () => {
      while (writing) {
        await delay(10);
        if (!paused) await (turn = write());
      }
    })();
    return {
      ids,
      /** Resolves when nothing more is written. */
      pause: async () => {
        paused = true;
        await turn;
      },
      goOn: () => void (paused = false),
      stop: async () => {
        writing = false;
        await done;
      },
    };
  };

  const flows = async (topic: string, brokers?: string) => {
    const before = (await readAll(topic, brokers)).length;
    await until('the other topic', async () => (await readAll(topic, brokers)).length > before + 8);
  };
  const inOrder = async (ids: Map<string, string[]>, brokers?: string) => {
    for (const [lane, expected] of ids) {
      const [topic = '', partition = ''] = lane.split('/');
      await until(
        `all of ${lane}`,
        async () => (await firsts(topic, Number(partition), brokers)).length === expected.length,
        60_000,
      );
      expect(await firsts(topic, Number(partition), brokers)).toEqual(expected);
    }
  };

  it('parks the lanes of a deleted topic; the others flow; they drain in order into the topic that is made again', async () => {
    const [lost, there] = [await createTopic('lost', { partitions: 2 }), await createTopic('there', { partitions: 2 })];
    const relay = relayWith(testConfig(bench.url));
    const written = await writer([lost, there], 2);
    await flows(there);
    // What the topic held goes with it; what comes after is ours to keep.
    await written.pause();
    await inOrder(written.ids);
    written.ids.clear();
    const heal = await removeTopic(lost);
    written.goOn();
    await until('the parking', () => relay.state.parkedLanes.length === 2);
    expect(relay.state.parkedLanes[0]).toMatchObject({
      code: 'topic-missing',
      reason: expect.stringMatching(/does not exist/) as string,
    });
    await flows(there);
    await heal();
    await until('the lanes', () => relay.state.parkedLanes.length === 0, 60_000);
    await flows(lost);
    await written.stop();
    written.ids.delete(`${there}/0`);
    written.ids.delete(`${there}/1`);
    await inOrder(written.ids);
  }, 180_000);

  it('lets one record hold its key alone when the topic takes smaller ones only, and sends it when it is made larger', async () => {
    const topic = await createTopic('small');
    const client = await bench.client();
    const relay = relayWith(testConfig(bench.url));
    const heal = await setOnTopic(topic, 'max.message.bytes', '3000');
    const row = (key: string, payload = 'x') => ({ id: String(randomUUID()), key, topic, payload });
    const rows = [row('a'), row('b'), row('a', 'x'.repeat(6000)), row('b'), row('a'), row('b')];
    await addRows(client, rows);
    const states = async () =>
      (await client.query<{ state: string }>('SELECT state FROM parked_outbound ORDER BY seq')).rows.map(
        (r) => r.state,
      );
    await until('the dead letter', async () => String(await states()) === 'dead,held');
    const of = (key: string, count?: number) =>
      rows
        .filter((each) => each.key === key)
        .slice(0, count)
        .map(({ id }) => id);
    const there = async (ids: string[]) => {
      const log = await firsts(topic, 0);
      return ids.every((id) => log.includes(id)) && log.length;
    };
    await until('the others', async () => (await there([...of('b'), ...of('a', 1)])) === 4);
    expect(relay.state).toMatchObject({ parkedLanes: [], failingLanes: [], pendingRows: 0 });
    await heal();
    await client.query(
      `UPDATE parked_outbound SET state = 'retrying', replay_id = gen_random_uuid() WHERE state = 'dead'`,
    );
    await client.query('UPDATE parked_outbound_key SET next_attempt_at = now()');
    await until('all', async () => (await there(rows.map(({ id }) => id))) === 6);
    expect((await firsts(topic, 0)).filter((id) => of('a').includes(id))).toEqual(of('a'));
  });

  it('parks a lane that is refused for want of copies, and drains it when they are there', async () => {
    const kafka = await startKafkaCluster();
    bench.onClose(() => kafka.stop());
    const { brokers } = kafka;
    const all = { brokers, replicationFactor: 3 };
    const [refusing, there] = [await createTopic('refusing', all), await createTopic('there', all)];
    const relay = relayWith(testConfig(bench.url, { KAFKA_BROKERS: brokers }));
    const written = await writer([refusing, there], 1);
    await flows(there, brokers);
    const heal = await makeReadOnly(refusing, kafka);
    await until('the parking', () => relay.state.parkedLanes.some(({ topic }) => topic === refusing), 60_000);
    expect(relay.state.parkedLanes.find(({ topic }) => topic === refusing)).toMatchObject({
      code: 'not-acknowledged',
      reason: expect.stringMatching(/too few replicas/) as string,
    });
    await flows(there, brokers);
    await heal();
    await until('the lanes', () => relay.state.parkedLanes.length === 0, 60_000);
    await written.stop();
    await inOrder(written.ids, brokers);
  }, 240_000);
});

describe('a relay whose right to one topic is taken away', () => {
  const bench = new Bench();
  const parley = { username: 'parley', password: 'a-secret-of-ours' };
  let kafka: SecureKafka;
  let god: Admin;
  beforeAll(async () => {
    kafka = await startKafka({ secure: true, accounts: [parley] });
    god = new Admin({
      clientId: 'test',
      bootstrapBrokers: [kafka.internalBrokers],
      sasl: { mechanism: 'SCRAM-SHA-512', ...kafka.admin },
    });
  });
  afterAll(async () => {
    await god.close();
    await kafka.stop();
  });
  beforeEach(() => bench.open());
  afterEach(() => bench.close());

  it('parks its lane, says why, and drains it in order when the right is given back', async () => {
    const [closed, open] = [uniqueName('closed'), uniqueName('open')];
    await god.createTopics({ topics: [closed, open], partitions: 1, replicas: 1 });
    const rights = (topic: string) => right(parley.username, 'TOPIC', topic, 'WRITE');
    await god.createAcls({ creations: [rights(closed), rights(open)] });
    const config = testConfig(bench.url, {
      KAFKA_BROKERS: kafka.brokers,
      KAFKA_SSL: 'true',
      KAFKA_CA_FILE: kafka.caFile,
      KAFKA_SASL_MECHANISM: 'scram-sha-512',
      KAFKA_SASL_USERNAME: parley.username,
      KAFKA_SASL_PASSWORD: parley.password,
    });
    const logger = pino({ level: 'silent' });
    const publisher = createLanePublisher(config, logger, 'relay');
    bench.onClose(() => publisher.close());
    const relay = bench.relay(publisher, {
      parking: PARKING,
      quarantine: () => createLanePublisher(config, logger, 'relay-quarantine'),
    });
    const client = await bench.client();
    const addOne = (topic: string) => addRows(client, [{ key: 'a', topic }]);
    const sent = async (topic: string) => {
      const { rows } = await client.query<{ n: number }>(
        'SELECT coalesce(sum(cardinality(seqs)), 0)::int AS n FROM outbox_receipt WHERE topic = $1',
        [topic],
      );
      return rows[0]?.n ?? 0;
    };
    await addOne(closed);
    await addOne(open);
    await until('the first ones', async () => (await sent(closed)) === 1 && (await sent(open)) === 1);
    const heal = await revoke(god, rights(closed));
    await until(
      'the parking',
      async () => {
        await addOne(closed);
        await addOne(open);
        return relay.state.parkedLanes.length === 1;
      },
      30_000,
    );
    expect(relay.state.parkedLanes).toMatchObject([{ topic: closed, partition: 0 }]);
    expect(relay.state.parkedLanes[0]?.code).toMatch(/^(not-authorized|topic-missing)$/);
    expect(relay.state.parkedLanes[0]?.reason).toMatch(/right/);
    const before = await sent(open);
    await addOne(open);
    await until('the other', async () => (await sent(open)) > before);
    await heal();
    await until('the lane', () => relay.state.parkedLanes.length === 0);
    const { rows } = await client.query<{ n: number }>(
      'SELECT count(*)::int AS n FROM outbox_message WHERE topic = $1',
      [closed],
    );
    await until('its rows', async () => (await sent(closed)) >= (rows[0]?.n ?? 0));
    const { rows: places } = await client.query<{ seqs: string[] }>(
      'SELECT seqs FROM outbox_receipt WHERE topic = $1 ORDER BY base_offset',
      [closed],
    );
    const order = [...new Set(places.flatMap(({ seqs }) => seqs.map(Number)))];
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    expect(order).toHaveLength(rows[0]?.n ?? 0);
  });
});
