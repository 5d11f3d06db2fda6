import type { LoggerService } from '@nestjs/common';
import { pino, type Logger } from 'pino';

export type { Logger } from 'pino';

/** Structured log: one event, one line of JSON. Fields are `order`, `partner`, `message_id`, `attempt`, `code`; never a payload or a secret. */
export function createLogger(level: string, instance: string): Logger {
  return pino({
    level,
    base: { service: 'parley', instance },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: {
      paths: ['password', '*.password', 'headers.authorization', 'err.config', 'databaseUrl'],
      censor: '[redacted]',
    },
  });
}

/** Nest's own messages through the same log; its start-up announcements are detail, so they go to `debug`. */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  log(message: unknown, ...rest: unknown[]): void {
    this.logger.debug({ context: rest.at(-1) }, String(message));
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.logger.warn({ context: rest.at(-1) }, String(message));
  }

  error(message: unknown, ...rest: unknown[]): void {
    this.logger.error({ context: rest.at(-1) }, String(message));
  }
}
