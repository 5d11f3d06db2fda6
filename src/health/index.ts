export { HealthModule } from './health.module';
export { type HealthReading, type HealthSignal } from './health-signal';
export { isForeign, listenForManagement } from './management-server';
export { Metrics } from './metrics';
