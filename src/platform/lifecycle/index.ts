export { Lifecycle, type Phase, type StopStage } from './lifecycle';
export { LifecycleModule } from './lifecycle.module';
export { leaveOnFault, stopOnSignals } from './signals';
