/**
 * A network that stammers, and processes that stand still now and then: loaded into every process of a run of tests (CONTRIBUTING.md
 * says how), it holds back some writes to TCP and TLS connections for a while. The bytes of a connection stay in order; which of two
 * connections is first does not. So a test, or the program, that takes for granted what happens to be quicker is found in a few
 * runs, not in one of hundreds.
 */
import { Socket } from 'node:net';

/**
 * A connection is quick for 0.5–6.5 s, or slow for 0.3–2 s: then each write waits. So two connections differ for long enough that one
 * overtakes the other by many steps, and a run takes little longer.
 */
const SLOW = { share: 0.35, fromMs: 10, toMs: 120 };

const between = (from, to) => from + Math.random() * (to - from);
const moods = new WeakMap();

function pauseMs(socket) {
  const now = performance.now();
  let mood = moods.get(socket);
  if (!mood || now > mood.until) {
    const slow = Math.random() < SLOW.share;
    moods.set(socket, (mood = { slow, until: now + (slow ? between(300, 2000) : between(500, 6500)) }));
  }
  return mood.slow ? between(SLOW.fromMs, SLOW.toMs) : 0;
}

const write = Socket.prototype._writeGeneric;
if (typeof write !== 'function')
  throw new Error('this Node writes sockets in another way: see test/support/jitter.mjs');

Socket.prototype._writeGeneric = function (...args) {
  // Pipes to other processes and terminals are sockets, too.
  const remote = ['TCP', 'TLSWrap'].includes(this._handle?.constructor.name);
  const pause = remote ? pauseMs(this) : 0;
  if (pause === 0) write.apply(this, args);
  // A stream asks for its next write, and for its end, only after this one has called back.
  else setTimeout(() => write.apply(this, args), pause);
};

/** Every process stands still for 30–400 ms, every 4 s on average. */
function standStill() {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, between(30, 400));
  soon();
}
const soon = () => setTimeout(standStill, Math.random() * 8000).unref();
soon();
