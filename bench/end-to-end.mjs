import { cpuMeter, until } from './measure.mjs';
import { environment, makeDatabase, spawnDriver, spawnSimulator } from './parley.mjs';
import { dropDatabase, settle } from './servers.mjs';

export const title = 'End to end: accept → outbox → Kafka → partner → Kafka → accepted, everything on this machine';

const AIM = 2500;
const STRETCH = 4000;
const CALLERS = 128;
/** Orders that may be without an answer at a time: accepting goes as fast as answers are applied, which is what can last. */
const OPEN = 4000;

/** Which roles run in which process; the first one places the orders, the one named `consumer` applies the answers. */
const SETUPS = {
  'all roles in one process': { parley: 'api,relay,consumer' },
  'a process for each role': { api: 'api', relay: 'relay', consumer: 'consumer' },
};

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
async function round(accepting, applying, partners, ms) {
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

export async function run({ servers, quick, report }) {
  for (const [index, [setup, roles]] of Object.entries(SETUPS).entries()) {
    const name = `endtoend${index + 1}x`;
    const partners = await makeDatabase(servers, name, { partners: 2, partitions: 6 });
    const simulator = await spawnSimulator(servers, partners);
    const processes = {};
    try {
      for (const [process, list] of Object.entries(roles)) {
        processes[process] = await spawnDriver(environment(servers, name, { ROLES: list }));
      }
      const [accepting] = Object.values(processes);
      const applying = processes.consumer ?? accepting;
      // The broker's compiler takes more processor time than its work for the first 20 s.
      await round(accepting, applying, partners, quick ? 2000 : 20_000);
      await settle(servers);
      const pids = Object.fromEntries(Object.entries(processes).map(([process, { pid }]) => [process, pid]));
      const cpu = cpuMeter({
        postgres: servers.postgres.pid,
        ...pids,
        broker: servers.kafka.pids,
        simulator: simulator.pid,
      });
      const { placed, acceptedMs, elapsedMs } = await round(accepting, applying, partners, quick ? 3000 : 20_000);
      const spent = Object.entries(cpu()).map(([process, ms]) => `${process} ${(ms / placed).toFixed(3)}`);
      const value = (placed * 1000) / elapsedMs;
      report({
        name: setup,
        value,
        unit: 'orders/s',
        aim: AIM,
        note: `${placed.toLocaleString('en')} orders accepted in ${(acceptedMs / 1000).toFixed(1)} s, the last answered ${((elapsedMs - acceptedMs) / 1000).toFixed(2)} s later; stretch ${STRETCH}; CPU ms an order: ${spent.join(', ')}`,
      });
    } finally {
      await Promise.all(Object.values(processes).map((process) => process.stop()));
      await simulator.stop();
    }
    await dropDatabase(servers, name);
    await settle(servers);
  }
}
