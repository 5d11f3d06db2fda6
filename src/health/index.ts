export { HealthModule } from './health.module';
export { type HealthReading, type HealthSignal } from './health-signal';
export { listenForManagement, MANAGEMENT_PATHS } from './management-server';
