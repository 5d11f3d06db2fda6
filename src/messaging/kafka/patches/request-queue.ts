import { loadInternal } from './version';

interface RequestQueue {
  pending: unknown[];
  throttledUntil: number;
  throttleCheckTimeoutId: NodeJS.Timeout | null;
  checkPendingRequests(): void;
  scheduleCheckPendingRequests(): void;
}

/** How often a queue with waiting requests looks whether it may send; as kafkajs has it. */
const CHECK_INTERVAL_MS = 10;

/**
 * kafkajs re-arms this timer for ever, also with nothing waiting and with a negative delay: each connection then wakes the
 * process every millisecond, and Node warns of a negative timeout. A timer is needed only while requests wait: a push or an
 * answer calls here again.
 */
export function scheduleCheckPendingRequests(this: RequestQueue): void {
  if (this.throttleCheckTimeoutId || this.pending.length === 0) return;
  const throttledFor = this.throttledUntil - Date.now();
  this.throttleCheckTimeoutId = setTimeout(
    () => {
      this.throttleCheckTimeoutId = null;
      this.checkPendingRequests();
    },
    throttledFor > 0 ? throttledFor : CHECK_INTERVAL_MS,
  );
}

export function patchRequestQueue(): void {
  const queue = loadInternal('kafkajs/src/network/requestQueue') as { prototype: RequestQueue };
  queue.prototype.scheduleCheckPendingRequests = scheduleCheckPendingRequests;
}
