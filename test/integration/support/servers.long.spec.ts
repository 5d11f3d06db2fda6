import { Admin } from '@platformatic/kafka';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { makeAuthority, startKafka, startPostgres } from '../../../scripts/servers/index.mjs';
import { Kafka, logLevel } from '../../../src/messaging/kafka/kafkajs';
import { eventually } from '../../support/eventually';

const SERVERS = join(__dirname, '..', '..', '..', 'scripts', 'servers');
const folder = mkdtempSync(join(tmpdir(), 'parley-servers-spec-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const isAlive = (pid: number) => {
  try {
    // A zombie keeps its number until somebody asks for its end.
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
};

/** A process that starts a server and prints `pid folder`. */
async function keeper(program: string): Promise<{ process: ChildProcess; pid: number; data: string }> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const [pid = '', data = ''] = line.split(' ');
  return { process: child, pid: Number(pid), data };
}

describe('a server', () => {
  it.each([
    [
      'PostgreSQL',
      `import { startPostgres } from '${SERVERS}/postgres.mjs'; const s = await startPostgres(); const pid = s.pid;`,
    ],
    ['Kafka', `import { startKafka } from '${SERVERS}/kafka.mjs'; const s = await startKafka(); const [pid] = s.pids;`],
    [
      'A schema registry',
      `import { startRegistry } from '${SERVERS}/registry.mjs'; const s = await startRegistry(); const pid = s.pid;`,
    ],
  ])('%s does not outlive a process that is killed, nor does its data', async (_, start) => {
    const end = `import { readlinkSync } from 'node:fs'; console.log(pid, readlinkSync('/proc/' + pid + '/cwd')); setInterval(() => 0, 1000);`;
    const { process: owner, pid, data } = await keeper(start + end);
    expect([isAlive(pid), existsSync(data)]).toEqual([true, true]);
    owner.kill('SIGKILL');
    await eventually(() => !isAlive(pid) && !existsSync(data), { what: 'the server and its data are gone' });
  });

  it('keeps its data, given a folder, over a stop', async () => {
    const dataDir = join(folder, 'kept');
    const first = await startKafka({ dataDir });
    const topics = async (brokers: string, make: string[]) => {
      const admin = new Admin({ clientId: 'spec', bootstrapBrokers: [brokers], retries: 5, retryDelay: 200 });
      try {
        if (make.length > 0) await admin.createTopics({ topics: make, partitions: 1, replicas: 1 });
        return await admin.listTopics();
      } finally {
        await admin.close();
      }
    };
    await topics(first.brokers, ['kept']);
    await first.stop();
    const second = await startKafka({ dataDir });
    try {
      expect(await topics(second.brokers, [])).toContain('kept');
    } finally {
      await second.stop();
    }
  });

  it('that is guarded keeps its accounts, and its certificate until a month is left', async () => {
    const dataDir = join(folder, 'guarded');
    const parley = { username: 'parley', password: 'made-once' };
    const run = async () => {
      const kafka = await startKafka({ dataDir, secure: true, accounts: [parley] });
      const ca = readFileSync(kafka.caFile);
      const topicsOf = async (account: { username: string; password: string }) => {
        const sasl = { mechanism: 'SCRAM-SHA-512' as const, ...account };
        const admin = new Admin({ clientId: 'spec', bootstrapBrokers: [kafka.brokers], tls: { ca }, sasl, retries: 5 });
        try {
          return await admin.listTopics();
        } finally {
          await admin.close();
        }
      };
      try {
        return { ca: String(ca), admin: kafka.admin, seen: [await topicsOf(kafka.admin), await topicsOf(parley)] };
      } finally {
        await kafka.stop();
      }
    };
    const first = await run();
    expect(first.seen).toEqual([[], []]);
    expect(await run()).toEqual(first);
    const { key, cert } = await (await makeAuthority()).issue('localhost', { expired: true });
    writeFileSync(join(dataDir, 'broker.keystore.pem'), key + cert + first.ca);
    const renewed = await run();
    expect(renewed.ca).not.toBe(first.ca);
    expect(renewed).toEqual({ ...first, ca: renewed.ca });
    const isPrivate = (name: string) => (statSync(join(dataDir, name)).mode & 0o077) === 0;
    expect(['admin.password', 'broker.keystore.pem', 'server.properties'].map(isPrivate)).toEqual([true, true, true]);
  });

  it('names the port that is taken', async () => {
    const { port } = new URL(process.env['TEST_PG_URL'] ?? '');
    const refusal = `port ${port} is taken`;
    await expect(startPostgres({ port: Number(port) })).rejects.toThrow(refusal);
    await expect(startKafka({ port: Number(port) })).rejects.toThrow(refusal);
  });

  it('lets nobody in without an account, and nobody write without a right', async () => {
    const acme = { username: 'acme', password: 'acme-secret' };
    const kafka = await startKafka({ secure: true, accounts: [acme] });
    const send = async (account: { username: string; password: string }, tls = { ca: readFileSync(kafka.caFile) }) => {
      // Not the client of the admin below: where the broker cuts a refused login short, it ends the process.
      const client = new Kafka({
        clientId: 'spec',
        brokers: [kafka.brokers],
        sasl: { mechanism: 'scram-sha-512', ...account },
        ssl: tls,
        connectionTimeout: 30_000,
        retry: { retries: 0 },
        logLevel: logLevel.NOTHING,
      });
      const producer = client.producer({ allowAutoTopicCreation: false });
      try {
        await producer.connect();
        await producer.send({ acks: -1, topic: 'guarded', messages: [{ partition: 0, value: Buffer.from('x') }] });
        return 'written';
      } catch {
        return 'refused';
      } finally {
        await producer.disconnect();
      }
    };
    const admin = new Admin({
      clientId: 'spec',
      bootstrapBrokers: [kafka.internalBrokers],
      sasl: { mechanism: 'SCRAM-SHA-512', ...kafka.admin },
    });
    try {
      await admin.createTopics({ topics: ['guarded'], partitions: 1, replicas: 1 });
      // The controller answers before the topic is led.
      await eventually(async () => (await send(kafka.admin)) === 'written');
      const tried = [await send(acme), await send({ ...kafka.admin, password: 'wrong' }), await send(kafka.admin)];
      expect(tried).toEqual(['refused', 'refused', 'written']);
    } finally {
      await admin.close();
      await kafka.stop();
    }
  });
});

describe('a thing that is made once', () => {
  const run = promisify(execFile);

  it('is whole when several processes make it at the same time, and nothing half-made stays', async () => {
    const target = join(folder, 'cache', 'thing');
    const program = `
      import { makeOnce } from '${SERVERS}/folders.mjs';
      import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
      await makeOnce('${target}', async (made) => {
        mkdirSync(made);
        for (const name of ['a', 'b', 'c']) { writeFileSync(made + '/' + name, name); await new Promise((r) => setTimeout(r, 200)); }
      });
      if (readdirSync('${target}').length !== 3) process.exit(1);`;
    await Promise.all([1, 2, 3].map(() => run(process.execPath, ['--input-type=module', '-e', program])));
    expect(readdirSync(target).toSorted()).toEqual(['a', 'b', 'c']);
    expect(readdirSync(join(folder, 'cache'))).toEqual(['thing']);
  });
});
