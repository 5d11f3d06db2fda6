import { until } from './measure.mjs';

const CALLERS = 128;
/** Orders that may be without an answer at a time: accepting goes as fast as answers are applied, which is what can last. */
const OPEN = 4000;

/** Lets accepting follow answering. */
function throttle(accepting, applying) {
  let stopped = false;
  const loop = (async () => {
    while (!stopped) {
      const { applied } = await applying.call('counts');
      await accepting.call('allow', applied + OPEN);
      await new Promise((resolve) => setTimeout(resolve, 15));
    }
    await accepting.call('allow', Infinity);
  })();
  return () => {
    stopped = true;
    return loop;
  };
}

/** Places orders for `ms` and waits until every one is answered. */
export async function round(accepting, applying, partners, ms) {
  const began = performance.now();
  const before = (await applying.call('counts')).applied;
  const stop = throttle(accepting, applying);
  const placed = await accepting.call('drive', { partners, callers: CALLERS, ms });
  const acceptedMs = performance.now() - began;
  await stop();
  const applied = async () => {
    const { applied: now, others } = await applying.call('counts');
    if (others > 0) throw new Error(`${others} answers were not applied: see the log`);
    return now - before;
  };
  await until('the answers', async () => (await applied()) >= placed, { progress: applied, everyMs: 10 });
  return { placed, acceptedMs, elapsedMs: performance.now() - began };
}
