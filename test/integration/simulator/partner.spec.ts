import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { orderRequest, toHeaders, typeOf } from '../../../src/contracts';
import { parseRule, parseWeights } from '../../../src/simulator/behaviour';
import type { JournalLine } from '../../../src/simulator/journal';
import type { SimulatorOptions } from '../../../src/simulator/options';
import { Partner } from '../../../src/simulator/partner';
import { startKafka } from '../../../scripts/servers/index.mjs';
import { eventually } from '../../support/eventually';
import { createTopic, produce, readAll, type RecordToProduce, uniqueName } from '../../support/kafka';

const folder = mkdtempSync(join(tmpdir(), 'parley-partner-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const running: Partner[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((partner) => partner.stop()));
});

function start(id: string, options: Partial<SimulatorOptions> = {}): Partner {
  const partner = new Partner(
    {
      brokers: (process.env['TEST_KAFKA_BROKERS'] ?? '').split(','),
      partners: [id],
      group: `${id}.simulator`,
      mix: { rules: [], weights: parseWeights('accept'), seed: '' },
      delayMs: 0,
      slowMs: 300,
      journal: join(folder, id),
      tls: false,
      caFile: undefined,
      sasl: undefined,
      ...options,
    },
    () => undefined,
  );
  running.push(partner);
  void partner.run();
  return partner;
}

async function topicsOf(id: string, brokers?: string): Promise<{ requests: string; responses: string }> {
  const name = (kind: string) => `orders.${id}.${kind}.v1`;
  await createTopic(name('request'), { exact: true, partitions: 2, ...(brokers ? { brokers } : {}) });
  await createTopic(name('response'), { exact: true, partitions: 2, ...(brokers ? { brokers } : {}) });
  return { requests: name('request'), responses: name('response') };
}

function requestFor(orderNumber: string, id: string = randomUUID()): RecordToProduce {
  const issuedAt = '2026-01-02T03:04:05.000Z';
  const lines = [{ lineNumber: 1, item: 'A', quantity: '3', unit: 'C62', unitPrice: '1.50' }];
  const correlationId = `x-${orderNumber}`;
  const type = typeOf(orderRequest);
  return {
    key: orderNumber,
    value: JSON.stringify({ orderNumber, issuedAt, currency: 'EUR', lines }),
    headers: toHeaders({ id, source: '/parley', type, time: issuedAt, subject: orderNumber, correlationId }),
  };
}

async function answersOn(topic: string, brokers?: string): Promise<string[]> {
  const records = await readAll(topic, brokers);
  return records.map(({ key, value }) => {
    const code = /"responseCode":"(..)"/.exec(String(value))?.[1];
    return `${key?.toString() ?? '-'}:${code ?? 'garbage'}`;
  });
}

const journalOf = (id: string) =>
  readFileSync(join(folder, id), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as JournalLine);

describe('the partner played by us', () => {
  it('answers each order by its rule and keeps a journal', async () => {
    const id = uniqueName('acme');
    const { requests, responses } = await topicsOf(id);
    const rules = ['S-*=slow', 'R-*=reject', 'D-*=duplicate', 'G-*=garbage', 'N-*=silent'].map(parseRule);
    start(id, { mix: { rules, weights: parseWeights('change'), seed: '' } });
    await produce(requests, [
      ...['S-1', 'R-1', 'D-1', 'G-1', 'N-1', 'C-1'].map((number) => requestFor(number)),
      { value: 'x' },
    ]);
    const expected = ['S-1:AB', 'S-1:AP', 'R-1:RE', 'D-1:AP', 'D-1:AP', '-:garbage', 'G-1:AP', 'C-1:CA'];
    await eventually(async () => expect((await answersOn(responses)).toSorted()).toEqual(expected.toSorted()) ?? true);
    const kinds = journalOf(id).map((line) => line.kind);
    expect(kinds.filter((kind) => kind === 'seen')).toHaveLength(6);
    expect(kinds.filter((kind) => kind === 'unreadable')).toHaveLength(1);
    expect(kinds.filter((kind) => kind === 'answered')).toHaveLength(8);
  });

  it('answers a request that comes twice with the same message id', async () => {
    const id = uniqueName('acme');
    const { requests, responses } = await topicsOf(id);
    const partner = start(id);
    const request = requestFor('A-1', 'the-same');
    await produce(requests, [request, request]);
    await eventually(() => partner.statistics.answered === 2);
    const ids = (await readAll(responses)).map((record) => String(record.headers['ce_id']));
    expect(new Set(ids).size).toBe(1);
    expect(partner.statistics).toMatchObject({ seen: 2, repeated: 1 });
  });

  it('reads on where it had answered, after a restart', async () => {
    const id = uniqueName('acme');
    const { requests } = await topicsOf(id);
    const first = start(id);
    await produce(requests, [requestFor('A-1'), requestFor('A-2')]);
    await eventually(() => first.statistics.answered === 2);
    await first.stop();
    const second = start(id);
    await produce(requests, [requestFor('A-3')]);
    await eventually(() => second.statistics.answered >= 1);
    expect(second.statistics.seen).toBe(1);
  });

  it('waits for topics that are not there yet', async () => {
    const id = uniqueName('acme');
    const partner = start(id);
    const { requests } = await topicsOf(id);
    await produce(requests, [requestFor('A-1')]);
    await eventually(() => partner.statistics.answered === 1, { timeout: 15_000 });
  });

  it('answers everything, in order, although the broker is killed meanwhile', async () => {
    const kafka = await startKafka();
    const { brokers } = kafka;
    try {
      const { requests, responses } = await topicsOf('acme', brokers);
      const mix = { rules: [], weights: parseWeights('slow'), seed: '' };
      const partner = start('acme', { brokers: [brokers], mix, journal: undefined, slowMs: 1000 });
      const numbers = Array.from({ length: 50 }, (_, index) => `K-${index}`);
      await produce(
        requests,
        numbers.map((number) => requestFor(number)),
        brokers,
      );
      await eventually(() => partner.statistics.answered >= 1);
      await kafka.kill();
      await kafka.restart();
      await eventually(() => partner.statistics.answered >= 100, { timeout: 30_000 });
      const answers = await answersOn(responses, brokers);
      for (const number of numbers) {
        const own = [...new Set(answers.filter((answer) => answer.startsWith(`${number}:`)))];
        expect(own).toEqual([`${number}:AB`, `${number}:AP`]);
      }
      await partner.stop();
    } finally {
      await kafka.stop();
    }
  });
});
