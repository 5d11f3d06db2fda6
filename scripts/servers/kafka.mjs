import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { classDataArchive } from './class-data.mjs';
import { temporaryFolder } from './folders.mjs';
import { findJava } from './java.mjs';
import { kafkaJars } from './kafka-jars.mjs';
import { brokersInMetadata, kafkaId, KafkaNode, storedControllerPort } from './kafka-node.mjs';
import { plainProperties } from './kafka-properties.mjs';
import { claimPort, freePort } from './ports.mjs';
import { secureNode } from './kafka-secure.mjs';
import { pausable, pauseProcesses } from './processes.mjs';

/** Java, jars and class-data archive; the first call on a machine fetches and makes them. */
export async function kafkaProgram(report) {
  const java = findJava();
  const jars = await kafkaJars(report);
  const archive = await classDataArchive(jars.home, java, async (file) => {
    report?.('preparing Kafka for quick starts, once');
    const folder = temporaryFolder('kafka-archive');
    const node = await plainNode({ program: { java, ...jars }, folder, remove: folder });
    try {
      await node.format();
      node.launch([`-XX:ArchiveClassesAtExit=${file}`]);
      await node.ready(1);
      await node.end('SIGTERM');
    } finally {
      node.discard();
    }
  });
  return { java, ...jars, archive };
}

async function plainNode({ program, folder, port, remove, extraProperties, heapMb, load }) {
  const controllerPort = storedControllerPort(folder) ?? (await freePort());
  const nodes = [{ id: 1, port: port ?? (await freePort()), controllerPort }];
  const data = join(folder, 'data');
  const node = new KafkaNode({
    program,
    folder,
    remove,
    heapMb,
    load,
    properties: { ...plainProperties({ id: 1, nodes, folder: data }), ...extraProperties },
    formatArgs: ['--standalone', '-t', kafkaId(randomBytes(16))],
    brokersSeen: () => brokersInMetadata(nodes[0].port),
  });
  return Object.assign(node, { brokers: `127.0.0.1:${nodes[0].port}`, port: nodes[0].port });
}

/**
 * Starts one broker on 127.0.0.1. Without `dataDir` its data is temporary and goes with `stop()`. `load`: full compiler,
 * for measurements and TLS. `secure`: TLS + SCRAM-SHA-512 + ACLs; then the result has `caFile`, `admin`, `internalBrokers`
 * too, and `accounts` (`[{ username, password }]`) exist from the start; `open`: a listener without any of it beside that,
 * at `openBrokers`; `mtls`: one for clients with a certificate, at `mtlsBrokers`, which `issueClient(name)` makes; `wirePort`: the port of a wire in between, by which the broker says that it is reached. `report(text)` hears of what takes long.
 */
export async function startKafka(options = {}) {
  const { port: wanted, dataDir, secure = false, report, ...rest } = options;
  const port = await claimPort(wanted, 'Kafka', '--kafka-port');
  const program = await kafkaProgram(report);
  const temporary = dataDir ? undefined : temporaryFolder('kafka');
  const make = secure ? secureNode : plainNode;
  const node = await make({ program, folder: dataDir ?? temporary, port, remove: temporary, ...rest });
  await startAll([node]);
  return { ...control([node], temporary), port, ...node.access };
}

/** Starts a cluster of brokers (three unless told otherwise), each broker and controller, topics with three copies. */
export async function startKafkaCluster({ brokers: count = 3, heapMb = 256, extraProperties = {}, load, report } = {}) {
  const program = await kafkaProgram(report);
  const base = temporaryFolder('kafka-cluster');
  const nodes = [];
  for (let id = 1; id <= count; id++) {
    nodes.push({ id, port: await freePort(), controllerPort: await freePort(), directory: kafkaId(randomBytes(16)) });
  }
  const clusterId = kafkaId(randomBytes(16));
  const voters = nodes.map((node) => `${node.id}@127.0.0.1:${node.controllerPort}:${node.directory}`).join(',');
  const list = nodes.map(({ id, port }) => {
    const folder = join(base, `node-${id}`);
    const node = new KafkaNode({
      program,
      folder,
      heapMb,
      load,
      remove: base,
      properties: { ...plainProperties({ id, nodes, folder: join(folder, 'data') }), ...extraProperties },
      formatArgs: ['-t', clusterId, '--initial-controllers', voters],
      brokersSeen: () => brokersInMetadata(port),
    });
    return Object.assign(node, { brokers: `127.0.0.1:${port}` });
  });
  await startAll(list);
  return control(list, base);
}

async function startAll(nodes) {
  try {
    await Promise.all(nodes.map((node) => node.format()));
    nodes.forEach((node) => node.launch());
    await Promise.all(nodes.map((node) => node.ready(nodes.length)));
  } catch (error) {
    await Promise.all(nodes.filter((node) => node.server).map((node) => node.end('SIGKILL')));
    throw error;
  }
}

/** What callers get. `n` counts from 0; a restarted broker is back when it and all that run see each other. */
function control(nodes, temporary) {
  const running = () => nodes.filter((node) => !node.server.ended);
  const pauses = nodes.map((node) => pausable(() => pauseProcesses([node.pid])));
  return {
    brokers: nodes.map((node) => node.brokers).join(','),
    get pids() {
      return nodes.map((node) => node.pid);
    },
    async kill(n = 0) {
      await nodes[n].end('SIGKILL');
      await pauses[n].resume();
    },
    pause: (n = 0) => pauses[n].pause(),
    resume: (n = 0) => pauses[n].resume(),
    async restart(n = 0) {
      await pauses[n].resume();
      await nodes[n].end('SIGTERM');
      nodes[n].launch();
      const expected = running().length;
      await Promise.all(running().map((node) => node.ready(expected)));
    },
    async stop() {
      await Promise.all(pauses.map(({ resume }) => resume()));
      // Data that is thrown away needs no orderly end, which takes a broker seconds.
      await Promise.all(nodes.map((node) => node.end(temporary ? 'SIGKILL' : 'SIGTERM')));
      if (temporary) rmSync(temporary, { recursive: true, force: true });
    },
  };
}
