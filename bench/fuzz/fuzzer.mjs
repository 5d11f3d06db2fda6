import { isDeepStrictEqual } from 'node:util';
import { mutated, randomNumbers } from './mutate.mjs';

const CODES = new Set(['undecodable', 'schema-unknown', 'schema-mismatch', 'invalid']);
/** No document of these sizes takes a reader a tenth of this, of processor: a machine that stands still is no fault of the reader. */
const SLOW_MS = 500;
const MAX_DETAIL = 600;

/**
 * Feeds targets with what nobody has written: `{ name, seeds, keep, decode(bytes), encode?(value) }`. Stops after so many
 * cases or so many ms, and with the first fault: a throw, an answer that is neither value nor typed error, a value that can't
 * be written and read again as it is, a call that takes long. Gives counts by outcome, and the fault with its bytes.
 */
export async function fuzz({ targets, seed, cases = Infinity, ms = Infinity }) {
  const next = randomNumbers(seed);
  const outcomes = {};
  const until = performance.now() + ms;
  let done = 0;
  let slowestMs = 0;
  for (; done < cases && performance.now() < until; done++) {
    const target = targets[next() % targets.length];
    const bytes = mutated(next, target.seeds, target.keep);
    const began = cpuMs();
    const { outcome, fault } = await one(target, bytes);
    const took = cpuMs() - began;
    slowestMs = Math.max(slowestMs, took);
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    const why = fault ?? (took > SLOW_MS ? `it took ${Math.round(took)} ms of processor` : undefined);
    if (why) return { done, outcomes, slowestMs, fault: { target: target.name, why, bytes: bytes.toString('hex') } };
  }
  return { done, outcomes, slowestMs, fault: undefined };
}

function cpuMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

async function one({ decode, encode }, bytes) {
  let decoded;
  try {
    decoded = await decode(bytes);
  } catch (error) {
    return { outcome: 'thrown', fault: `it throws ${error?.stack ?? error}` };
  }
  if (decoded?.ok === true) {
    const fault = encode && (await notTheSame(decode, encode, decoded.value));
    return { outcome: 'value', fault };
  }
  const { code, detail } = decoded?.error ?? {};
  if (!CODES.has(code) || typeof detail !== 'string' || detail.length > MAX_DETAIL) {
    return { outcome: 'other', fault: `it answers ${JSON.stringify(decoded)?.slice(0, 1000)}` };
  }
  return { outcome: code, fault: undefined };
}

/** What was read is a document of the contract, so it can be written, and says the same again. */
async function notTheSame(decode, encode, value) {
  try {
    const again = await decode((await encode(value)).payload);
    if (again.ok && isDeepStrictEqual(again.value, value)) return undefined;
    return `it reads ${JSON.stringify(value).slice(0, 500)} and, written again, ${JSON.stringify(again).slice(0, 500)}`;
  } catch (error) {
    return `it reads ${JSON.stringify(value)?.slice(0, 500)}, which can't be written: ${error.message}`;
  }
}
