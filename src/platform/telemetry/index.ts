export { createLogger, NestLogger, type Logger } from './logger';
export { LOGGER, TelemetryModule } from './telemetry.module';
