import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AnyContract, orderCancellation, orderRequest, toHeaders, typeOf } from '../../../src/contracts';
import { type Behaviour, BEHAVIOURS, parseRule, parseWeights, WISHES } from '../../../src/simulator/behaviour';
import type { JournalLine } from '../../../src/simulator/journal-line';
import type { SimulatorOptions } from '../../../src/simulator/options';
import { Partner } from '../../../src/simulator/partner';
import { createTopic, readAll, type RecordToProduce } from '../../support/kafka';

const folder = mkdtempSync(join(tmpdir(), 'parley-partner-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const running: Partner[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((partner) => partner.stop()));
});

export const mixOf = (weights: Behaviour, ...rules: string[]) => ({
  rules: rules.map((text) => parseRule(text, BEHAVIOURS)),
  weights: parseWeights(weights, BEHAVIOURS),
  seed: '',
});

export function start(
  id: string,
  options: Partial<SimulatorOptions> = {},
  log: (line: string) => void = () => undefined,
): Partner {
  const partner = new Partner(
    {
      brokers: (process.env['TEST_KAFKA_BROKERS'] ?? '').split(','),
      parties: [{ id, format: 'json' }],
      registry: undefined,
      group: `partner.${id}.simulator`,
      mix: mixOf('accept'),
      cancellation: { rules: [parseRule('KEEP-*=refuse', WISHES)], weights: parseWeights('agree', WISHES), seed: '' },
      delayMs: 0,
      slowMs: 300,
      shipMs: 20,
      journal: join(folder, id),
      tls: undefined,
      account: undefined,
      ...options,
    },
    log,
  );
  running.push(partner);
  void partner.run();
  return partner;
}

interface Topics {
  requests: string;
  responses: string;
  advices: string;
  receipts: string;
  errors: string;
}

export async function topicsOf(id: string, brokers?: string): Promise<Topics> {
  const [requests, responses] = [`orders.${id}.request.v1`, `orders.${id}.response.v1`];
  const [advices, receipts] = [`shipments.${id}.request.v1`, `shipments.${id}.response.v1`];
  const topics = { requests, responses, advices, receipts, errors: `errors.${id}.v1` };
  for (const topic of Object.values(topics)) {
    await createTopic(topic, { exact: true, partitions: 2, ...(brokers ? { brokers } : {}) });
  }
  return topics;
}

const TIME = '2026-01-02T03:04:05.000Z';
const line = { lineNumber: 1, item: 'A', quantity: '3', unit: 'C62', unitPrice: '1.50' };
export const documentFor = (orderNumber: string) => ({
  ...{ orderNumber, issuedAt: TIME, currency: 'EUR' },
  lines: [line, { ...line, lineNumber: 2 }],
});

export function recordFor(contract: AnyContract, key: string, value: Buffer | object, id: string): RecordToProduce {
  const envelope = { id, source: '/parley', type: typeOf(contract), time: TIME, subject: key };
  return {
    key,
    value: Buffer.isBuffer(value) ? value : JSON.stringify(value),
    headers: toHeaders({ ...envelope, correlationId: `x-${id}` }),
  };
}

export const requestFor = (orderNumber: string, id: string = randomUUID()): RecordToProduce =>
  recordFor(orderRequest, orderNumber, documentFor(orderNumber), id);

export const cancellationOf = (orderNumber: string, id: string = randomUUID()): RecordToProduce =>
  recordFor(orderCancellation, orderNumber, { orderNumber, issuedAt: TIME, reason: 'ordered twice' }, id);

export async function answersOn(topic: string, brokers?: string): Promise<string[]> {
  const records = await readAll(topic, brokers);
  return records.map(({ key, value }) => {
    const code = /"responseCode":"(..)"/.exec(String(value))?.[1];
    return `${key?.toString() ?? '-'}:${code ?? 'garbage'}`;
  });
}

export const journalOf = (id: string) =>
  readFileSync(join(folder, id), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as JournalLine);
