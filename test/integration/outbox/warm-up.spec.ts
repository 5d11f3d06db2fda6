import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { pino } from 'pino';
import { DataSource } from 'typeorm';
import {
  type AnyContract,
  orderCancellation,
  type OrderRequest,
  orderRequest,
  schemaFileOf,
  subjectFor,
} from '../../../src/contracts';
import { addChannels, ChannelCatalog } from '../../../src/messaging/channels';
import { Outbox, WarmUp } from '../../../src/messaging/outbox';
import { createCodec, createSchemaRegistry, RegistryUnavailable } from '../../../src/messaging/registry';
import { Database, query } from '../../../src/platform/database';
import { freshDatabase } from '../../support/database';
import { eventually } from '../../support/eventually';
import { uniqueName } from '../../support/kafka';
import { registerSchema, testRegistry } from '../../support/registry';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy';

describe('documents in a format that a registry has to do with', () => {
  let database: Database;
  let url: string;
  let wire: TcpProxy;
  let partner: string;
  let topic: string;
  const undo: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    const databaseUrl = await freshDatabase();
    const dataSource = new DataSource({ type: 'postgres', url: databaseUrl, poolSize: 2, installExtensions: false });
    database = new Database(await dataSource.initialize());
    url = await testRegistry();
    wire = await startTcpProxy({ port: Number(new URL(url).port) });
  });
  beforeEach(async () => {
    partner = uniqueName('acme');
    topic = `orders.${partner}.request.v1`;
    await database.transaction(async (tx) => {
      await query(tx, `DELETE FROM channel`);
      await query(tx, `INSERT INTO partner (id, name, created_at) VALUES (:partner, :partner, now())`, { partner });
      const channel = { partner, topic, direction: 'out', format: 'avro', partitions: 1 } as const;
      await addChannels(tx, [{ ...channel, maxMessageBytes: 1_048_588, allowMissingId: false }], new Date());
    });
  });
  afterEach(async () => {
    for (const step of undo.splice(0).toReversed()) await step();
    wire.refuse(false);
  });
  afterAll(async () => {
    await wire.close();
    await database.dataSource.destroy();
  });

  const publish = (contract: AnyContract) =>
    registerSchema(url, subjectFor(contract, topic), { schema: readFileSync(schemaFileOf(contract, 'avro'), 'utf8') });
  const cut = () => {
    wire.refuse(true);
    wire.cutAll();
  };

  const expecting = (expectation: () => Promise<unknown>) =>
    eventually(async () => {
      await expectation();
      return true;
    });

  async function outboxOver() {
    const over = new URL(url);
    over.port = String(wire.port);
    const registry = createSchemaRegistry({ schemaRegistryUrls: [over.href], schemaRegistryDeadlineMs: 500 });
    undo.push(() => registry.close());
    const channels = new ChannelCatalog(database);
    await channels.load();
    return { registry, channels, outbox: new Outbox(channels, createCodec(registry)) };
  }

  async function warming() {
    const parts = await outboxOver();
    const times = { every: 50, retry: { initialMs: 20, maxMs: 50 } };
    const log = pino({ level: 'silent' });
    const warmUp = new WarmUp(parts.outbox, parts.channels, parts.registry, log, times, [
      orderRequest,
      orderCancellation,
    ]);
    const stopping = new AbortController();
    const running = warmUp.run(stopping.signal);
    undo.push(async () => {
      stopping.abort();
      await running;
    });
    return { ...parts, warmUp };
  }

  /** What is missing, once all documents were asked for: on a busy machine a registry that is there may be late. */
  const findingOf = ({ trouble }: WarmUp) => (trouble?.includes('schema registry') ? undefined : trouble);

  const order = (): OrderRequest => structuredClone(orderRequest.examples[0]);
  const prepare = (outbox: Outbox) =>
    outbox.prepare({
      contract: orderRequest,
      partner,
      value: order(),
      id: randomUUID(),
      time: new Date(),
      aggregateType: 'order',
    });

  it('are made while the registry is away, once it was there', async () => {
    await publish(orderRequest);
    const { outbox, warmUp } = await warming();
    // It has been through all documents when it names the one that is missing.
    await eventually(() => warmUp.trouble?.includes('order-cancellation'));
    cut();
    const prepared = await prepare(outbox);
    expect(prepared).toMatchObject({ topic, contentType: 'application/avro' });
    expect(prepared.payload?.readUInt8(0)).toBe(0);
    expect(prepared.dataSchema).toContain(encodeURIComponent(subjectFor(orderRequest, topic)));
  });

  it('are refused to the caller while the registry is away and was never asked, and taken when it is back', async () => {
    await publish(orderRequest);
    cut();
    const { outbox, warmUp } = await warming();
    await expect(outbox.ready(orderRequest, partner)).rejects.toBeInstanceOf(RegistryUnavailable);
    await expect(prepare(outbox)).rejects.toMatchObject({ code: 'registry-unavailable', retryAfter: 5 });
    await eventually(() => warmUp.trouble !== undefined);
    wire.refuse(false);
    await eventually(() =>
      prepare(outbox)
        .then(() => true)
        .catch(() => false),
    );
  });

  it('whose schema is not published say so, and what to run, until it is', async () => {
    await publish(orderRequest);
    const { outbox, warmUp } = await warming();
    const finding = await eventually(() => findingOf(warmUp));
    expect(finding).toContain(`order-cancellation for ${partner}`);
    expect(finding).toContain('parley contracts publish');
    expect(finding).not.toContain('order-request for');
    await expecting(() =>
      expect(outbox.ready(orderCancellation, partner)).rejects.toMatchObject({ code: 'schema-unpublished' }),
    );
    await publish(orderCancellation);
    await eventually(() => warmUp.trouble === undefined);
    await expecting(() => outbox.ready(orderCancellation, partner));
  });

  it('leave no trouble standing that is over: the registry is asked again', async () => {
    await publish(orderRequest);
    await publish(orderCancellation);
    const { warmUp, registry, outbox } = await warming();
    await eventually(() => outbox.ready(orderCancellation, partner).then(() => true));
    cut();
    await expect(registry.versions('some-subject')).rejects.toBeInstanceOf(RegistryUnavailable);
    expect(warmUp.trouble).toMatch(/schema registry/);
    wire.refuse(false);
    await eventually(() => warmUp.trouble === undefined);
  });

  it('that are many do not fill the health page', async () => {
    const { warmUp } = await warming();
    const finding = await eventually(() => findingOf(warmUp));
    expect(finding).toMatch(/^order-request for .*\(and 1 more\)$/);
  });

  it('are refused for a partner without such a channel, and without a registry', async () => {
    const { outbox, channels } = await outboxOver();
    await expect(outbox.ready(orderRequest, 'nobody')).rejects.toMatchObject({ code: 'channel-unknown' });
    const without = new Outbox(channels, createCodec(undefined));
    await expect(without.ready(orderRequest, partner)).rejects.toMatchObject({ code: 'registry-unconfigured' });
  });
});
