import { writeSync } from 'node:fs';
import { workerData } from 'node:worker_threads';

// A thread of its own, since the one that it watches may never yield again. Node also runs this file as it is, without a build: types only.

const { shared, everyMs, limit } = workerData as { shared: SharedArrayBuffer; everyMs: number; limit: number };
const state = new Int32Array(shared, 0, 2);
const text = Buffer.from(shared, 8);

let seen = -1;
let missed = 0;
let last = performance.now();

setInterval(() => {
  const now = performance.now();
  // This thread stood still, too: the process or the machine was suspended, and nobody blocks anything.
  const suspended = now - last > 3 * everyMs;
  last = now;
  const beat = Atomics.load(state, 0);
  if (beat !== seen || suspended) {
    seen = beat;
    missed = 0;
    return;
  }
  if (++missed >= limit) end();
}, everyMs);

/** Neither the logger nor an orderly exit: both need the thread that is blocked. */
function end(): void {
  const inHand = text.toString('utf8', 0, Atomics.load(state, 1));
  const line = {
    level: 'fatal',
    time: new Date().toISOString(),
    service: 'parley',
    code: 'event-loop-blocked',
    blocked_ms: everyMs * limit,
    last_given_to_a_handler: inHand || null,
    msg: 'the event loop is blocked: the process is ended, and the record is found by those that come after it',
  };
  try {
    writeSync(2, `${JSON.stringify(line)}\n`);
  } finally {
    process.kill(process.pid, 'SIGKILL');
  }
}
