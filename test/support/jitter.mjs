/**
 * A network that stammers, and processes that stand still now and then: loaded into every process of a run of tests (CONTRIBUTING.md
 * says how), it holds back some writes to TCP and TLS connections for a while. The bytes of a connection stay in order; which of two
 * connections is first does not. So a test, or the program, that takes for granted what happens to be quicker is found in one run,
 * not in one of a hundred.
 */
import { Socket } from 'node:net';

/** Of 1,000 writes: how many wait, and between how many ms. Means: 0.7 ms a write. */
const WAITS = [
  { share: 3, from: 40, to: 300 },
  { share: 50, from: 0, to: 8 },
];

function pauseMs() {
  let dice = Math.random() * 1000;
  for (const { share, from, to } of WAITS) {
    if (dice < share) return from + Math.random() * (to - from);
    dice -= share;
  }
  return 0;
}

const write = Socket.prototype._writeGeneric;
if (typeof write !== 'function')
  throw new Error('this Node writes sockets in another way: see test/support/jitter.mjs');

Socket.prototype._writeGeneric = function (...args) {
  // Pipes to other processes (stdout) are sockets too.
  const remote = this._handle?.constructor.name !== 'Pipe';
  const pause = remote ? pauseMs() : 0;
  if (pause === 0) write.apply(this, args);
  // A stream asks for its next write, and for its end, only after this one has called back.
  else setTimeout(() => write.apply(this, args), pause);
};

/** Every process stands still for 30–400 ms, every 4 s on average. */
function standStill() {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 30 + Math.random() * 370);
  soon();
}
const soon = () => setTimeout(standStill, Math.random() * 8000).unref();
soon();
