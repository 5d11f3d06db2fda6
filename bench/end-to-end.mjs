import { startRegistry } from '../scripts/servers/index.mjs';
import { cpuMeter, until } from './measure.mjs';
import { environment, makeDatabase, publishSchemas, spawnDriver, spawnSimulator } from './parley.mjs';
import { dropDatabase, settle, withGuard } from './servers.mjs';

export const title = 'End to end: accept → outbox → Kafka → partner → Kafka → accepted, everything on this machine';

const AIM = 2500;
const STRETCH = 4000;
const CALLERS = 128;
/** Orders that may be without an answer at a time: accepting goes as fast as answers are applied, which is what can last. */
const OPEN = 4000;

/**
 * Which roles run in which process (the first one places the orders, the one named `consumer` applies the answers), what
 * the partners speak, and whether the broker is guarded. With the first three of one run the costs of TLS with rights, and of Avro, can be told.
 */
const SETUPS = {
  'all roles in one process': { roles: { parley: 'api,relay,consumer' }, format: 'json' },
  'all roles in one process, guarded broker': {
    ...{ roles: { parley: 'api,relay,consumer' }, format: 'json', guarded: true },
  },
  'all roles in one process, Avro': { roles: { parley: 'api,relay,consumer' }, format: 'avro' },
  'a process for each role': { roles: { api: 'api', relay: 'relay', consumer: 'consumer' }, format: 'json' },
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

/** What a format needs beside the servers that all have. */
async function startFormat(servers, name, format) {
  const partners = await makeDatabase(servers, name, { partners: 2, partitions: 6, format });
  if (format === 'json') return { partners, env: {}, stop: () => undefined };
  const registry = await startRegistry();
  const env = { SCHEMA_REGISTRY_URLS: registry.url };
  try {
    await publishSchemas(environment(servers, name, env));
  } catch (error) {
    await registry.stop();
    throw error;
  }
  return { partners, env, registryUrl: registry.url, stop: () => registry.stop() };
}

export async function run({ servers: plain, quick, report }) {
  let unguarded;
  for (const [index, [setup, { roles, format, guarded }]] of Object.entries(SETUPS).entries()) {
    const name = `endtoend${index + 1}x`;
    const servers = guarded ? await withGuard(plain) : plain;
    const { partners, env, registryUrl, stop } = await startFormat(servers, name, format);
    const processes = {};
    let simulator;
    try {
      simulator = await spawnSimulator(servers, partners, { format, registryUrl });
      for (const [process, list] of Object.entries(roles)) {
        processes[process] = await spawnDriver(environment(servers, name, { ROLES: list, ...env }));
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
      unguarded ??= value;
      report({
        name: setup,
        value,
        unit: 'orders/s',
        ...(guarded ? { ratio: value / unguarded, ratioTo: 'an unguarded broker' } : { aim: AIM }),
        note: `${placed.toLocaleString('en')} orders accepted in ${(acceptedMs / 1000).toFixed(1)} s, the last answered ${((elapsedMs - acceptedMs) / 1000).toFixed(2)} s later; stretch ${STRETCH}; CPU ms an order: ${spent.join(', ')}`,
      });
    } finally {
      await Promise.all(Object.values(processes).map((process) => process.stop()));
      await simulator?.stop();
      await stop();
      if (guarded) await servers.stop();
    }
    await dropDatabase(plain, name);
    await settle(plain);
  }
}
