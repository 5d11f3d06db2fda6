import { startRegistry } from '../scripts/servers/index.mjs';
import { cpuMeter } from './measure.mjs';
import { environment, makeDatabase, publishSchemas, spawnDriver, spawnSimulator } from './parley.mjs';
import { round } from './round.mjs';
import { dropDatabase, settle, withGuard } from './servers.mjs';

export const title = 'End to end: accept → outbox → Kafka → partner → Kafka → accepted, everything on this machine';

const AIM = 2500;
const STRETCH = 4000;

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
