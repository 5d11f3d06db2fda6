import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { typeOf } from '../../../src/contracts';
import { eventually } from '../../support/eventually';
import { createTopic, produce, type RecordToProduce, uniqueName } from '../../support/kafka';
import { addPartner, appliedSteps, openWorld, parkedRows, STEP, type World } from './harness';

let world: World;
const running = new Set<ChildProcess>();
beforeAll(async () => (world = await openWorld()));
afterEach(() => running.forEach((child) => child.kill('SIGKILL')));
afterAll(() => world.close());

/** As an orchestrator keeps a process: started again whenever it ends, and told so. */
class Kept {
  readonly ends: (string | number | null)[] = [];
  output = '';
  private child: ChildProcess | undefined;
  private stopped = false;
  private readonly loop: Promise<void>;

  constructor(private readonly env: NodeJS.ProcessEnv) {
    this.loop = this.keep();
  }

  get pid(): number {
    return this.child?.pid ?? 0;
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.child?.kill('SIGTERM');
    await this.loop;
  }

  private async keep(): Promise<void> {
    while (!this.stopped) {
      const script = [join(__dirname, '../outbox/run-typescript.cjs'), join(__dirname, 'doomed-consumer.ts')];
      const child = spawn(
        process.execPath,
        ['--max-old-space-size=96', '--disable-warning=ExperimentalWarning', ...script],
        {
          env: { PATH: process.env['PATH'], ...this.env },
          stdio: ['ignore', 'pipe', 'pipe'],
        },
      );
      this.child = child;
      running.add(child);
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (text: string) => (this.output = (this.output + text).slice(-20_000)));
      const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
      running.delete(child);
      this.ends.push(signal ?? code);
    }
  }
}

const document = (partition: number, key: string, step: string, poison?: string): RecordToProduce => ({
  ...{ partition, key, value: JSON.stringify({ orderNumber: key, step, ...(poison ? { poison } : {}) }) },
  headers: { ce_id: `${partition}-${step}`, ce_type: typeOf(STEP), ce_specversion: '1.0' },
});

function keep(change: NodeJS.ProcessEnv = {}): Kept {
  return new Kept({
    ...{
      DATABASE_URL: world.url,
      KAFKA_BROKERS: process.env['TEST_KAFKA_BROKERS'],
      KAFKA_CONSUMER_GROUP: uniqueName('doomed'),
    },
    ...{
      KAFKA_SESSION_TIMEOUT_MS: '6000',
      // Out of memory, or of the machine's time, a process stands still for a while, too: that end is not the watchdog's.
      WATCHDOG_MS: '5900',
      CONSUMER_BATCH_SIZE: '50',
      LOG_LEVEL: 'warn',
      DATABASE_POOL_SIZE: '4',
    },
    ...change,
  });
}

const marks = (topic: string) =>
  world.database.query('SELECT run, partition FROM consumer_start WHERE topic = :topic', { topic });

it.each([
  ['calls process.exit', 'exit', 3],
  // Where it stands still for long before it dies, as on a busy machine, the watchdog ends it first.
  ['exhausts the memory', 'exhaust', expect.stringMatching(/^SIG(ABRT|KILL)$/) as string],
  ['spins for ever', 'spin', 'SIGKILL'],
])(
  'a record whose handler %s is a dead letter after three starts, and everything else is applied once',
  async (_what, poison, end) => {
    const partner = uniqueName('p');
    const topic = await addPartner(world, partner);
    await createTopic(topic, { partitions: 2, exact: true });
    await createTopic(`${topic}-dlt`, { partitions: 2, exact: true });
    const row = (partition: number, from: number) =>
      Array.from({ length: 10 }, (_, index) => document(partition, `k${partition}-${index}`, `${from + index}`));
    await produce(topic, [
      ...row(0, 0),
      ...row(1, 100),
      document(0, 'bad', '50', poison),
      document(0, 'bad', '51'),
      ...row(0, 200),
    ]);
    const process = keep();
    try {
      await eventually(
        async () =>
          (await parkedRows(world, partner)).length === 2 && (await appliedSteps(world, partner)).length === 30,
        {
          timeout: 400_000,
          interval: 200,
          what: `all is applied but the poison; ended with ${process.ends.join()}`,
        },
      );
      expect(await parkedRows(world, partner)).toMatchObject([
        { state: 'dead', code: 'process-killer', failed_in: 'process', key: 'bad' },
        { state: 'held', key: 'bad' },
      ]);
      // One end while whole batches are read, three of the record alone.
      expect(process.ends).toEqual([end, end, end, end]);
      expect(new Set(await appliedSteps(world, partner)).size).toBe(30);
      if (poison === 'spin') expect(process.output).toContain('event-loop-blocked');
      // The partition goes on.
      await produce(topic, [document(0, 'later', '300')]);
      await eventually(async () => (await appliedSteps(world, partner)).includes('300'));
    } finally {
      await process.stop();
    }
    expect(process.ends.at(-1)).toBe(0);
    // Partition 1 had nothing more for the last process: whoever reads it next does so carefully.
    expect(await marks(topic)).not.toContainEqual(expect.objectContaining({ partition: 0 }));
  },
  600_000,
);

it('a process that was stopped for longer than the watchdog waits lives on', async () => {
  const partner = uniqueName('p');
  const topic = await addPartner(world, partner);
  await createTopic(topic, { exact: true });
  const kept = keep({ WATCHDOG_MS: '2500' });
  try {
    await produce(topic, [document(0, 'a', '1')]);
    await eventually(async () => (await appliedSteps(world, partner)).length === 1, { timeout: 90_000 });
    const { pid } = kept;
    process.kill(pid, 'SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    process.kill(pid, 'SIGCONT');
    await produce(topic, [document(0, 'a', '2')]);
    await eventually(async () => (await appliedSteps(world, partner)).length === 2, { timeout: 90_000 });
    expect([kept.pid, kept.ends]).toEqual([pid, []]);
  } finally {
    await kept.stop();
  }
  expect(kept.ends).toEqual([0]);
  expect(await marks(topic)).toEqual([]);
}, 300_000);
