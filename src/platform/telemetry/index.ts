export type { GaugeBoard } from './gauge-board';
export { createLogger, NestLogger, type Logger } from './logger';
export { LOGGER, TelemetryModule } from './telemetry.module';
