export { Lifecycle, type Phase, type StopStage } from './lifecycle';
export { LifecycleModule } from './lifecycle.module';
export { stopOnSignals } from './signals';
