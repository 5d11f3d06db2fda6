import { pino } from 'pino';
import type { KafkaSettings } from '../../../src/messaging/kafka';

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
  Array.from({ length: count }, (_, index) => ({ key: `${stem}${index}`, value: Buffer.from(`${stem}${index}`), headers: {} }));
