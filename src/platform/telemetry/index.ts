export type { GaugeBoard } from './gauge-board';
export { LineLimit } from './line-limit';
export { createLogger, NestLogger, type Logger } from './logger';
export { LOGGER, TelemetryModule } from './telemetry.module';
