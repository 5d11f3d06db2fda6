import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Client } from 'pg';
import { pino } from 'pino';
import type { LaneBatch, LanePublisher, LaneReceipt } from '../../../src/messaging/kafka';
import { eventually } from '../../support/eventually';
import { freshDatabase } from '../../support/database';
import { createRelay, type Relay, type RelayOptions } from '../../../src/messaging/outbox';

/** What a relay handed over, in order: the broker of tests about reading, which acknowledges from memory and fails on demand. */
export class RecordingPublisher implements LanePublisher {
  readonly lanes = new Map<string, string[]>();
  readonly batches: LaneBatch[] = [];
  sent = 0;
  overlapping = 0;
  private readonly outstanding = new Set<string>();
  /** Called before a batch is written; may throw (nothing is written) or wait. */
  before: (batch: LaneBatch) => Promise<void> | void = () => undefined;
  /** Called after a batch is written; may throw (the outcome is unknown to the caller). */
  after: (batch: LaneBatch) => Promise<void> | void = () => undefined;
  leader: (topic: string, partition: number) => number = () => 1;

  leaderOf(topic: string, partition: number): Promise<number> {
    return Promise.resolve(this.leader(topic, partition));
  }

  async send(batch: LaneBatch): Promise<LaneReceipt> {
    const name = `${batch.topic}/${batch.partition}`;
    if (this.outstanding.has(name)) this.overlapping++;
    this.outstanding.add(name);
    try {
      await this.before(batch);
      let lane = this.lanes.get(name);
      if (!lane) this.lanes.set(name, (lane = []));
      const baseOffset = BigInt(lane.length);
      for (const record of batch.records) lane.push(String(record.headers['ce_id']));
      this.batches.push(batch);
      this.sent += batch.records.length;
      await this.after(batch);
      return { topic: batch.topic, partition: batch.partition, baseOffset };
    } finally {
      this.outstanding.delete(name);
    }
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** Ids in the order of their first delivery, over all lanes (exact within a lane). */
  firsts(lane?: string): string[] {
    const all = lane ? [this.lanes.get(lane) ?? []] : [...this.lanes.values()];
    return all.flatMap((ids) => [...new Set(ids)]);
  }
}

export function relayOn(
  url: string,
  publisher: LanePublisher,
  options: Partial<RelayOptions> & { statementTimeoutMs?: number } = {},
): Relay {
  return createRelay({
    database: { connection: url, connectTimeoutMs: 20_000, statementTimeoutMs: options.statementTimeoutMs ?? 15_000 },
    publisher,
    // The bench closes it.
    quarantine: () => ({
      leaderOf: (topic, partition) => publisher.leaderOf(topic, partition),
      send: (batch) => publisher.send(batch),
      close: () => Promise.resolve(),
    }),
    source: '/parley/test',
    instance: 'test',
    log: pino({ level: process.env['LOG_LEVEL'] ?? 'silent' }),
    leaseMs: 2000,
    ...options,
  });
}

export async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

export interface TestRow {
  id?: string;
  key: string;
  topic?: string;
  partition?: number;
  payload?: string;
}

/** Adds rows as `Outbox.add` does, with a plain client, and returns their ids. */
export async function addRows(client: Client, rows: readonly TestRow[]): Promise<string[]> {
  const ids = rows.map((row) => row.id ?? randomUUID());
  await client.query(
    `INSERT INTO outbox_message (id, aggregatetype, aggregateid, type, topic, partition, content_type, time, payload)
     SELECT i, 'order', k, 'parley.order-request.v1', t, p, 'application/json', now(), convert_to(v, 'UTF8')
     FROM unnest($1::uuid[], $2::text[], $3::text[], $4::int[], $5::text[]) u(i, k, t, p, v)`,
    [
      ids,
      rows.map((row) => row.key),
      rows.map((row) => row.topic ?? 'orders.acme.request.v1'),
      rows.map((row) => row.partition ?? 0),
      rows.map((row) => row.payload ?? `{"key":"${row.key}"}`),
    ],
  );
  return ids;
}

/** Waits until `condition` holds. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  timeout?: number,
): Promise<void> {
  await eventually(condition, { what, timeout, interval: 5 });
}

/** Servers, relays and clients of one spec, ended after each test in the reverse order. */
export class Bench {
  url = '';
  private readonly endings: (() => Promise<unknown>)[] = [];

  async open(): Promise<void> {
    this.url = await freshDatabase();
  }

  async close(): Promise<void> {
    for (const end of this.endings.splice(0).toReversed()) await end();
  }

  onClose(end: () => Promise<unknown>): void {
    this.endings.push(end);
  }

  async client(url = this.url): Promise<Client> {
    const client = await connect(url);
    this.onClose(() => client.end().catch(() => undefined));
    return client;
  }

  /** A relay in a process of its own, on real Kafka. Killed at the end of the test if it still runs. */
  relayProcess(env: Record<string, string> = {}): ChildProcess {
    const script = [join(__dirname, 'run-typescript.cjs'), join(__dirname, 'relay-process.ts')];
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...script], {
      env: { ...process.env, DATABASE_URL: this.url, KAFKA_BROKERS: process.env['TEST_KAFKA_BROKERS'], ...env },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    this.onClose(async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await gone;
    });
    return child;
  }

  relay(publisher: LanePublisher, options: Parameters<typeof relayOn>[2] & { url?: string } = {}): Relay {
    const relay = relayOn(options.url ?? this.url, publisher, options);
    this.onClose(() => relay.stop(1000));
    relay.start();
    return relay;
  }
}
