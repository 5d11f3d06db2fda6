import type { Logger } from '../../platform/telemetry';
import { type LogEntry, logLevel } from './kafkajs';

/** What of kafkajs' log fields is safe and useful: its `data` and `payload` carry answers, and those carry payloads and salts. */
const FIELDS = ['broker', 'groupId', 'topic', 'partition', 'offset', 'error', 'retryCount', 'retryTime'] as const;

/** Building a debug line costs kafkajs more than writing it costs us, so the level is chosen before. */
export function kafkaLogLevel(logger: Logger): logLevel {
  if (logger.isLevelEnabled('trace')) return logLevel.DEBUG;
  return logger.isLevelEnabled('debug') ? logLevel.WARN : logLevel.NOTHING;
}

/**
 * kafkajs calls each refused connection an error, on every retry, and reports the same failure on three floors. Whatever
 * matters reaches us as a rejection or an event and is logged once, by us; its own lines are detail.
 */
export function kafkaLog(logger: Logger): () => (entry: LogEntry) => void {
  return () => (entry) => {
    const fields: Record<string, unknown> = { kafkajs: entry.namespace };
    for (const name of FIELDS) {
      const value: unknown = entry.log[name];
      if (value !== undefined) fields[name] = value instanceof Error ? value.message : value;
    }
    const severe = entry.level === logLevel.ERROR || entry.level === logLevel.WARN;
    logger[severe ? 'debug' : 'trace'](fields, entry.log.message);
  };
}
