import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { classDataArchive, javaFlags } from './class-data.mjs';
import { temporaryFolder } from './folders.mjs';
import { findJava } from './java.mjs';
import { claimPort, freePort } from './ports.mjs';
import { endServer, startServer, untilReady } from './processes.mjs';
import { registryJars } from './registry-jars.mjs';
import { ServerError } from './server-error.mjs';

/**
 * Starts a schema registry (Apicurio, Confluent's API under `url`) on 127.0.0.1. Without `dataDir` its data is temporary
 * and goes with `stop()`. What it has answered survives `kill()`, also without `dataDir`; `restart()` brings it back on the
 * same port. `report(text)` hears of what takes long.
 */
export async function startRegistry({ port: wanted, dataDir, report } = {}) {
  const port = await claimPort(wanted, 'The schema registry', '--registry-port');
  const program = await registryProgram(report);
  const temporary = dataDir ? undefined : temporaryFolder('registry');
  const node = registryNode({ program, folder: dataDir ?? temporary, port, remove: temporary });
  await node.start();
  return {
    url: node.url,
    port,
    get pid() {
      return node.pid;
    },
    kill: () => node.end('SIGKILL'),
    async restart() {
      await node.end('SIGTERM');
      await claimPort(port, 'The schema registry');
      await node.start();
    },
    async stop() {
      await node.end(temporary ? 'SIGKILL' : 'SIGTERM');
      if (temporary) rmSync(temporary, { recursive: true, force: true });
    },
  };
}

/** Java, jars and class-data archive; the first call on a machine fetches and makes them. */
async function registryProgram(report) {
  const java = findJava();
  const jars = await registryJars(report);
  const archive = await classDataArchive(jars.home, java, async (file) => {
    report?.('preparing the schema registry for quick starts, once');
    const folder = temporaryFolder('registry-archive');
    const node = registryNode({ program: { java, ...jars }, folder, port: await freePort(), remove: folder });
    try {
      await node.start([`-XX:ArchiveClassesAtExit=${file}`]);
      await node.end('SIGTERM');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
  return { java, ...jars, archive };
}

function registryNode({ program, folder, port, remove }) {
  const url = `http://127.0.0.1:${port}/apis/ccompat/v7`;
  const log = join(folder, 'registry.log');
  const settings = {
    'quarkus.http.host': '127.0.0.1',
    'quarkus.http.port': port,
    'quarkus.http.access-log.enabled': false,
    'quarkus.log.category."io.apicurio".level': 'WARN',
    'apicurio.storage.kind': 'sql',
    'apicurio.storage.sql.kind': 'h2',
    // Each commit is in the file before it is answered; H2's own default writes half a second later.
    'apicurio.datasource.url': 'jdbc:h2:file:./schemas;WRITE_DELAY=0',
  };
  let server;

  async function start(extra = []) {
    mkdirSync(folder, { recursive: true });
    const logged = existsSync(log) ? statSync(log).size : 0;
    const args = [
      ...javaFlags({ heapMb: 256, archive: program.archive }),
      ...extra,
      ...Object.entries(settings).map(([name, value]) => `-D${name}=${value}`),
      '-jar',
      program.runner,
    ];
    // In its own folder: Quarkus also reads .env and config/ of the folder that it is started in.
    server = startServer(program.java.command, args, { log, signal: 'KILL', remove, cwd: folder });
    const state = await untilReady(server, () => answers(url));
    if (state.ready) return;
    await endServer(server, 'SIGKILL');
    throw refusal(state.why, readFileSync(log).subarray(logged).toString(), folder, log);
  }

  return {
    url,
    start,
    get pid() {
      return server.pid;
    },
    end: (signal) => endServer(server, signal),
  };
}

/** Why it did not start, from what it logged; its stack traces of hundreds of lines stay in the file. */
function refusal(how, said, folder, log) {
  if (said.includes('The file is locked')) {
    return new ServerError(
      `The data folder ${folder} is in use.`,
      'Another schema registry runs on it.',
      'Stop that one first, or name another folder.',
    );
  }
  const lines = said.split('\n').filter((line) => / ERROR |^Caused by:|^Error/.test(line));
  return new ServerError(`The schema registry did not start: ${how}.`, lines.slice(-6).join('\n    '), `Read ${log}.`);
}

const answers = (url) =>
  fetch(`${url}/subjects`, { signal: AbortSignal.timeout(1000) }).then(
    (response) => response.ok,
    () => false,
  );
