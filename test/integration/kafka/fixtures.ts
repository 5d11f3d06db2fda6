import { type Logger, pino } from 'pino';
import type { Account } from '../../../scripts/servers/index.mjs';
import {
  type BatchSourceOptions,
  createBatchSource,
  type InboundRecord,
  type KafkaSettings,
  type RecordBatch,
} from '../../../src/messaging/kafka';
import type { AppError } from '../../../src/platform/errors';
import { uniqueName, withAdmin } from '../../support/kafka';

export { createTopic } from '../../support/kafka';

/** Settings as configuration gives them, for brokers without TLS and accounts. */
export const settingsFor = (brokers = process.env['TEST_KAFKA_BROKERS'] ?? ''): KafkaSettings => ({
  instanceId: 'test',
  kafkaBrokers: brokers.split(','),
  kafkaSsl: false,
  kafkaCaFile: '',
  kafkaSaslMechanism: '',
  kafkaSaslUsername: '',
  kafkaSaslPassword: '',
});

/** The same for a guarded broker, under an account. */
export const secureSettings = (kafka: { brokers: string; caFile: string }, account: Account): KafkaSettings => ({
  ...settingsFor(kafka.brokers),
  kafkaSsl: true,
  kafkaCaFile: kafka.caFile,
  kafkaSaslMechanism: 'scram-sha-512',
  kafkaSaslUsername: account.username,
  kafkaSaslPassword: account.password,
});

/** What it was refused with; fails when it was not. */
export const failureOf = (work: Promise<unknown>): Promise<AppError> =>
  work.then(
    () => {
      throw new Error('it did not fail');
    },
    (error: unknown) => error as AppError,
  );

export const quiet = pino({ level: process.env['LOG_LEVEL'] ?? 'silent' });

/** A logger whose lines can be looked at. */
export function recordingLogger(level = 'info') {
  const lines: Record<string, unknown>[] = [];
  const logger = pino({ level }, { write: (line: string) => lines.push(JSON.parse(line) as Record<string, unknown>) });
  return { logger, lines };
}

const undo: (() => Promise<unknown>)[] = [];

/** Remembers to close it, whatever becomes of the test. */
export function closing<T extends { close(): Promise<unknown> }>(thing: T): T {
  undo.push(() => thing.close());
  return thing;
}

export const stopping = <T extends { stop(): Promise<unknown> }>(thing: T): T => {
  undo.push(() => thing.stop());
  return thing;
};

/** For afterEach or afterAll: closes all of it, newest first. */
export async function closeAll(): Promise<void> {
  for (const step of undo.splice(0).toReversed()) await step();
}

export const records = (stem: string, count: number) =>
  Array.from({ length: count }, (_, index) => ({
    key: `${stem}${index}`,
    value: Buffer.from(`${stem}${index}`),
    headers: {},
  }));

/** What a source handed out, in order of arrival, and the knobs of a handler. */
export class Listener {
  readonly seen: InboundRecord[] = [];
  /** Offsets told to be done, as `topic/partition@offset`. */
  readonly done: string[] = [];
  handle: (batch: RecordBatch) => Promise<void> = (batch) => this.take(batch);

  readonly onBatch = (batch: RecordBatch): Promise<void> => this.handle(batch);

  /** The usual handler: remembers the records, then says they are done. */
  async take(batch: RecordBatch): Promise<void> {
    this.seen.push(...batch.records);
    const last = batch.records.at(-1);
    if (last) await batch.done(last.offset);
  }

  get values(): string[] {
    return this.seen.map(({ value }) => String(value));
  }
}

export interface SourceFixture {
  topics: readonly string[];
  group?: string;
  brokers?: string;
  logger?: Logger;
  settings?: KafkaSettings;
  timing?: BatchSourceOptions['timing'];
  onFatal?: (error: Error) => void;
}

/** A source with quick timing and its listener, started, and closed with the test. */
export function startSource(fixture: SourceFixture, listener = new Listener()) {
  const group = fixture.group ?? uniqueName('group');
  const settings = fixture.settings ?? settingsFor(fixture.brokers);
  const source = closing(
    createBatchSource(settings, fixture.logger ?? quiet, {
      groupId: group,
      topics: fixture.topics,
      onBatch: listener.onBatch,
      onFatal: fixture.onFatal ?? (() => undefined),
      timing: {
        sessionTimeout: 10_000,
        rebalanceTimeout: 10_000,
        heartbeat: 200,
        maxWait: 100,
        probe: 200,
        ...fixture.timing,
      },
    }),
  );
  source.start();
  return { source, listener, group };
}

/** Offset of the next record that the group would read, or -1 when it has committed none. */
export async function committed(group: string, topic: string, partition = 0, brokers?: string): Promise<bigint> {
  const answer = await withAdmin(brokers, (admin) =>
    admin.listConsumerGroupOffsets({
      groups: [{ groupId: group, topics: [{ name: topic, partitionIndexes: [partition] }] }],
    }),
  );
  return answer[0]?.topics[0]?.partitions[0]?.committedOffset ?? -1n;
}

/** Members that the broker counts in the group. */
export async function members(group: string, brokers?: string): Promise<number> {
  const groups = await withAdmin(brokers, (admin) => admin.describeGroups({ groups: [group] }));
  return groups.get(group)?.members.size ?? 0;
}
