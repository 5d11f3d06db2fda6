import { Producer } from '@platformatic/kafka';
import { readFileSync } from 'node:fs';
import { orderResponse, typeOf } from '../../../src/contracts';
import { eventually } from '../../support/eventually';
import { uniqueName } from '../../support/kafka';
import { acceptance, answer, type Onboarded, openStage, type PlacedOrder, type Stage } from './stage';

const SOON = { timeout: 60_000 };
const MB = 1024 * 1024;
/** New dead letters a minute, after which a channel is paused. */
const FLOOD = 60;

let stage: Stage;
let acme: Onboarded;
let globex: Onboarded;

beforeAll(async () => {
  stage = await openStage({ DEAD_LETTER_FLOOD_PER_MINUTE: String(FLOOD) });
  globex = await stage.onboard('globex');
});
afterAll(() => stage.close());
beforeEach(async () => {
  acme = await stage.onboard('acme');
});

const accepted = (order: PlacedOrder) =>
  eventually(async () => (await stage.stateOf(order)) === 'accepted', { ...SOON, what: 'it is accepted' });

async function works(partner: Onboarded): Promise<void> {
  const order = await stage.place(partner);
  await answer(partner, acceptance(order));
  await accepted(order);
}

/** Under the partner's own account, one request each over one connection. */
async function write({ door, topics }: Onboarded, compression: 'none' | 'gzip', ...values: Buffer[]): Promise<void> {
  const producer = new Producer<Buffer, Buffer, Buffer, Buffer>({
    ...{ clientId: 'attack', bootstrapBrokers: door.brokers.split(','), retries: 0, timeout: 60_000 },
    tls: { ca: readFileSync(door.caFile) },
    sasl: { mechanism: 'SCRAM-SHA-512', ...door.account },
  });
  const named = { ce_specversion: '1.0', ce_type: typeOf(orderResponse), ce_source: '/partner' };
  try {
    for (const value of values) {
      const headers = { ...named, ce_id: uniqueName('id'), ce_correlationid: 'none' };
      const pairs = Object.entries(headers).map(([name, text]) => [Buffer.from(name), Buffer.from(text)] as const);
      const message = { topic: topics.responses, partition: 0, key: Buffer.from('k'), value, headers: new Map(pairs) };
      await producer.send({ acks: -1, compression, messages: [message] });
    }
  } finally {
    await producer.close();
  }
}

describe('by volume', () => {
  it('a partner is slowed down to its limit by the broker, and another is not', async () => {
    // A broker lets ten seconds' worth through at first; the rest takes forty seconds, however busy the machine is.
    const perSecond = 20_000;
    const greedy = await stage.onboard('greedy', { quotas: { producerBytesPerSecond: perSecond } });
    const million = Array.from({ length: 20 }, () => Buffer.alloc(50_000, 'x'));
    const timed = async (partner: Onboarded) => {
      const start = performance.now();
      await write(partner, 'none', ...million);
      return performance.now() - start;
    };
    const order = await stage.place(globex);
    let isOver = false;
    const slow = timed(greedy).finally(() => (isOver = true));
    const fast = await timed(acme);
    await answer(globex, acceptance(order));
    await accepted(order);
    expect(isOver).toBe(false);
    expect(await slow).toBeGreaterThan(2 * fast);
    expect(1_000_000 / ((await slow) / 1000)).toBeLessThan(5 * perSecond);
  });

  it('answers to orders without number pause their own channel alone, with a bounded number of rows', async () => {
    const made = Array.from({ length: 2_000 }, () =>
      acceptance({ orderNumber: uniqueName('no'), correlationId: uniqueName('none') }),
    );
    await answer(acme, ...made);
    await eventually(
      () => stage.lines.some(({ code, topic }) => code === 'channel-flooded' && topic === acme.topics.responses),
      SOON,
    );
    await works(globex);
    const rows = (await stage.parked(acme)).length;
    expect(rows).toBeGreaterThan(FLOOD);
    expect(rows).toBeLessThan(1_000);
  });
});

describe('by one message', () => {
  it('larger than its topic takes, it is refused by the broker', async () => {
    const large = { key: 'k', value: 'x'.repeat(2 * MB), headers: {} };
    await expect(answer(acme, large)).rejects.toMatchObject({
      errors: [expect.objectContaining({ errors: [expect.objectContaining({ apiId: 'MESSAGE_TOO_LARGE' })] })],
    });
    await works(acme);
  });

  const objects = (bytes: number) => Buffer.from(`[${'{},'.repeat(bytes / 3)}{}]`);
  it.each<[what: string, value: () => Buffer]>([
    [
      'of a hundred thousand members',
      () => Buffer.from(JSON.stringify(Object.fromEntries(Array.from({ length: 90_000 }, (_, n) => [`m${n}`, 1])))),
    ],
    ['that nests to the end of a megabyte', () => Buffer.from('{"a":['.repeat(150_000))],
    ['packed, of objects to the end of 40 MB', () => objects(40 * MB)],
    ['packed, of more than is ever unpacked', () => Buffer.alloc(200 * MB)],
  ])(
    '%s, it is a dead letter, and everything else flows',
    async (_what, value) => {
      await write(acme, 'gzip', value());
      await eventually(async () => (await stage.parked(acme)).length === 1, SOON);
      expect((await stage.parked(acme)).map(([, state]) => state)).toEqual(['dead']);
      await works(acme);
      await works(globex);
    },
    180_000,
  );
});
