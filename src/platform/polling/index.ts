export { backoffMs, type BackoffPolicy } from './backoff';
export { retryForever } from './retry';
export { sleep } from './sleep';
export { Wakeable } from './wakeable';
