import { existsSync, readFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';

export const median = (values) => percentile(values, 50);

/** Nearest rank. */
export function percentile(values, percent) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)];
}

/** Milliseconds that `work` took. */
export async function timed(work) {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** Waits for a condition; rejects when nothing that `progress` returns has changed for `stalledMs`. */
export async function until(what, condition, { everyMs = 5, stalledMs = 60_000, progress = () => 0 } = {}) {
  let last = await progress();
  for (let since = performance.now(); !(await condition());) {
    await new Promise((resolve) => setTimeout(resolve, everyMs));
    const now = await progress();
    if (now !== last) [last, since] = [now, performance.now()];
    else if (performance.now() - since > stalledMs) throw new Error(`${what}: nothing moved for ${stalledMs / 1000} s`);
  }
}

/** Clock ticks a second, in which /proc counts processor time. */
const TICKS = Number(spawnSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }).stdout) || 100;

export const canMeasureCpu = existsSync('/proc/self/stat');

const childrenOf = (pid) => {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
};

/**
 * Processor milliseconds of a process and all that it started, those that have ended too (fields 14 to 17 of
 * /proc/<pid>/stat), as long as their parent has taken notice of their end.
 */
export function cpuMs(pid) {
  let fields;
  try {
    fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1).split(' ');
  } catch {
    return 0;
  }
  const own = fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0);
  return (own * 1000) / TICKS + childrenOf(pid).reduce((sum, child) => sum + cpuMs(child), 0);
}

/** This process alone: the servers are its children. */
const ownCpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** Processor time of several processes with their children (of this one without) since it was made: `{ name: ms }`. */
export function cpuMeter(pids) {
  const one = (pid) => (pid === process.pid ? ownCpuMs() : cpuMs(pid));
  const read = () => Object.fromEntries(Object.entries(pids).map(([name, list]) => [name, [list].flat().map(one)]));
  const before = read();
  return () =>
    Object.fromEntries(
      Object.entries(read()).map(([name, now]) => [name, now.reduce((sum, ms, i) => sum + ms - before[name][i], 0)]),
    );
}

/** Keeps `callers` calls of `work(n)` going for `ms`; resolves with their number and how long it took until all had ended. */
export async function closedLoop({ callers, ms, work }) {
  const began = performance.now();
  const end = began + ms;
  let calls = 0;
  const one = async () => {
    while (performance.now() < end) await work(calls++);
  };
  await Promise.all(Array.from({ length: callers }, one));
  const elapsedMs = performance.now() - began;
  return { calls, elapsedMs, perSecond: (calls * 1000) / elapsedMs };
}

/** Busy and all processor milliseconds of the machine since it started (the first line of /proc/stat). */
function machineMs() {
  const [, ...ticks] = readFileSync('/proc/stat', 'utf8').split('\n')[0].trim().split(/\s+/);
  // user nice system idle iowait irq softirq steal; guests are in user already.
  const all = ticks.slice(0, 8).reduce((sum, value) => sum + Number(value), 0);
  return { all: (all * 1000) / TICKS, busy: ((all - Number(ticks[3]) - Number(ticks[4])) * 1000) / TICKS };
}

/** Share of the machine (0 to 1) that others than this process and its children have taken since it was made; undefined without /proc. */
export function disturbance() {
  if (!canMeasureCpu) return () => undefined;
  const before = { ...machineMs(), own: cpuMs(process.pid) };
  return () => {
    const { all, busy } = machineMs();
    return Math.max(0, busy - before.busy - (cpuMs(process.pid) - before.own)) / (all - before.all);
  };
}
