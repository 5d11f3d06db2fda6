import { isIn } from './messages.mjs';

/**
 * Which messages fail, and until when: a share of them for `healMs` after somebody tried them first, as where a lock is
 * held or another message has to come first; or for ever.
 */
export class Faults {
  #since = new Map();

  constructor({ share = 0, healMs = 150, test = (n) => isIn(n, share) } = {}) {
    this.healMs = healMs;
    this.test = test;
  }

  /** Throws while the message fails. */
  check(n) {
    if (!this.test(n)) return;
    const now = performance.now();
    if (!this.#since.has(n)) this.#since.set(n, now);
    if (now - this.#since.get(n) < this.healMs) throw new Error('what this message needs is not there yet');
  }
}

/**
 * A handler with a row for each message that it applies. One that fails is an exception, which splits the batch; with `decides` it is
 * a decision (`retry`), which costs the others nothing.
 */
export function handlerOf(faults, query, { decides = false } = {}) {
  const handler = async (_, { tx, messages }) => {
    handler.calls++;
    const waiting = new Set();
    const outcomes = messages.map(({ key, value }) => {
      if (waiting.has(key)) return { kind: 'held' };
      try {
        faults.check(value.step);
        return { kind: 'applied' };
      } catch (error) {
        if (!decides) throw error;
        waiting.add(key);
        return { kind: 'retry', code: 'too-early', detail: error.message };
      }
    });
    const applied = messages.filter((_, index) => outcomes[index].kind === 'applied');
    await query(tx, 'INSERT INTO effect (n, key) SELECT * FROM unnest(:n::bigint[], :key::text[])', {
      n: applied.map(({ value }) => value.step),
      key: applied.map(({ key }) => key),
    });
    return outcomes;
  };
  handler.calls = 0;
  return handler;
}
