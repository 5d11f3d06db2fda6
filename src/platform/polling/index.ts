export { BackgroundLoop } from './background-loop';
export { backoffMs, type BackoffPolicy } from './backoff';
export { nowAndThen, regularly, sweeping } from './now-and-then';
export { retryForever } from './retry';
export { retryAfterMs } from './retry-after';
export { sleep } from './sleep';
export { Wakeable } from './wakeable';
