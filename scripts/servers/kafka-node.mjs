import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { javaFlags } from './class-data.mjs';
import { render } from './kafka-properties.mjs';
import { endServer, startServer, tail, untilReady } from './processes.mjs';
import { ServerError } from './server-error.mjs';

const run = promisify(execFile);

/**
 * One broker process on `folder`. `program` = `{ java, classPath, logging, archive }`; `formatArgs` makes its data on the
 * first start; `brokersSeen` counts the brokers in its metadata answer, and it is ready when that is `expected`.
 */
export class KafkaNode {
  constructor({ program, folder, properties, formatArgs, heapMb = 256, load = false, remove, brokersSeen }) {
    Object.assign(this, { program, folder, properties, formatArgs, heapMb, load, remove, brokersSeen });
    this.log = join(folder, 'broker.log');
    this.config = join(folder, 'server.properties');
  }

  get pid() {
    return this.server.pid;
  }

  java(heapMb, extra = []) {
    const { archive, logging, classPath } = this.program;
    return [
      ...javaFlags({ heapMb, archive, load: this.load }),
      '-Xss512k',
      ...extra,
      `-Dlog4j2.configurationFile=${logging}`,
      '-cp',
      classPath,
    ];
  }

  /** Makes the data folder unless it is there. Its output holds salts and keys of accounts: only an error's is kept. */
  async format() {
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    writeFileSync(this.config, render(this.properties), { mode: 0o600 });
    if (existsSync(join(this.properties['log.dirs'], 'meta.properties'))) return;
    const args = [...this.java(64), 'kafka.tools.StorageTool', 'format', ...this.formatArgs, '-c', this.config];
    try {
      await run(this.program.java.command, args);
    } catch (error) {
      const [why] = (error.stderr || error.message).trim().split('\n');
      throw new ServerError(
        `Kafka could not make its data folder ${this.folder}.`,
        why,
        'Choose a folder that can be written.',
      );
    }
  }

  launch(extra = []) {
    this.server = startServer(
      this.program.java.command,
      [...this.java(this.heapMb, extra), 'kafka.Kafka', this.config],
      {
        log: this.log,
        signal: 'KILL',
        remove: this.remove,
        cwd: this.folder,
      },
    );
  }

  async ready(expected) {
    const state = await untilReady(this.server, async () => (await this.brokersSeen()) >= expected);
    if (state.ready) return;
    await endServer(this.server, 'SIGKILL');
    throw new ServerError(`Kafka did not start: ${state.why}.`, tail(this.log), `Read ${this.log}.`);
  }

  end(signal) {
    return endServer(this.server, signal);
  }

  discard() {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Ids that Kafka takes: 16 bytes in base64url, not beginning with a dash. */
export function kafkaId(bytes) {
  return Buffer.from(bytes).toString('base64url').replace(/^-/, 'A');
}

/** The port of the controller, which stands in the quorum's own data: a node that starts again must keep it. */
export function storedControllerPort(folder) {
  const file = join(folder, 'server.properties');
  return existsSync(file)
    ? Number(/CONTROLLER:\/\/127\.0\.0\.1:(\d+)/.exec(readFileSync(file, 'utf8'))?.[1])
    : undefined;
}

/** Metadata request v4 for no topic, client id "p": the least that shows that a broker answers. */
const METADATA_REQUEST = Buffer.from('0000001000030004000000070001700000000000', 'hex');

/** How many brokers the node knows to be alive; 0 while it does not answer. */
export function brokersInMetadata(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let received = Buffer.alloc(0);
    const done = (count) => {
      socket.destroy();
      resolve(count);
    };
    socket.setTimeout(1000, () => done(0));
    socket.on('error', () => done(0));
    socket.on('close', () => done(0));
    socket.on('connect', () => socket.write(METADATA_REQUEST));
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (received.length >= 16 && received.length >= 4 + received.readInt32BE(0)) done(received.readInt32BE(12));
    });
  });
}
