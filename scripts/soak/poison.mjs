import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Producer } from '@platformatic/kafka';
import { readJournal } from '../demo/compare.mjs';
import { PARTNERS, UMBRELLA } from './load.mjs';

/** Pause between two of them: 0.1 % of what partners write at 20 orders a second. A short run has more, so that it has each kind. */
const EVERY_MS = 40_000;

const responses = (partner) => `orders.${partner}.response.v1`;

/** Writes records that can never be applied, as partners; remembers of each what it must die of. */
export class Poison {
  /** By message id: `{ topic, code }`. */
  written = new Map();
  #over = new AbortController();

  constructor(system, load) {
    this.system = system;
    this.load = load;
    this.producers = new Map(PARTNERS.map(({ id }) => [responses(id), producerOf(system, id)]));
  }

  async run(seconds) {
    const end = Date.now() + seconds * 1000;
    const pause = Math.min(EVERY_MS, (seconds * 1000) / 10);
    const kinds = [undecodable, unknownSchema, invalid, contradiction, orphan];
    for (let n = 0; Date.now() + pause < end; n++) {
      await delay(pause);
      const record = kinds[n % kinds.length](PARTNERS[n % 3].id, this);
      if (record) await this.write(record);
    }
  }

  async write({ topic, key, value, correlationId, code }) {
    const id = randomUUID();
    const headers = { ce_specversion: '1.0', ce_id: id, ce_source: '/soak', ce_type: 'parley.order-response.v1' };
    if (correlationId) headers.ce_correlationid = correlationId;
    // Remembered before: a write that failed for the caller may have happened all the same.
    this.written.set(id, { topic, code });
    const message = { topic, partition: 0, ...(key ? { key: Buffer.from(key) } : {}), value: Buffer.from(value) };
    const bytes = Object.entries(headers).map(([name, text]) => [Buffer.from(name), Buffer.from(text)]);
    for (;;) {
      try {
        await this.producers.get(topic).send({ acks: -1, messages: [{ ...message, headers: new Map(bytes) }] });
        return;
      } catch (error) {
        if (this.#over.signal.aborted) throw error;
        await delay(500);
      }
    }
  }

  async close() {
    this.#over.abort();
    for (const producer of this.producers.values()) await producer.close().catch(() => undefined);
  }
}

const producerOf = (system, partner) =>
  new Producer({
    ...{ clientId: 'soak-poison', retries: 100, retryDelay: 200, timeout: 5000 },
    ...system.access.asPartner(partner),
  });

const undecodable = (partner) => ({ topic: responses(partner), value: [0xff, 0, 0xfe], code: 'undecodable' });

/** Confluent's frame with an id that no registry has given. */
const unknownSchema = (partner) => ({
  topic: responses(partner),
  value: [0, 0x7f, 0xff, 0xff, 0xf0, 2, 2],
  code: 'schema-unknown',
});

const invalid = () => ({ topic: responses(UMBRELLA.id), value: '{"orderNumber":5}', code: 'invalid' });

/** Of an order that was accepted: the same answer's exchange, and a refusal. */
function contradiction(_, { system, load }) {
  const settled = readJournal(system.journal).filter(
    ({ kind, order }) => kind === 'answered' && load.accepted.has(order),
  );
  const answers = settled.filter(({ order }) => order.startsWith('UMBRELLA-'));
  const first = answers.at(Math.floor(Math.random() * answers.length));
  const seen = first && readJournal(system.journal).find(({ kind, order }) => kind === 'seen' && order === first.order);
  if (!seen) return undefined;
  return { ...answer(seen.order), correlationId: seen.correlationId, code: 'illegal-transition' };
}

const orphan = () => ({ ...answer(`NOBODY-${randomUUID()}`), correlationId: randomUUID(), code: 'exchange-unknown' });

const answer = (orderNumber) => ({
  topic: responses(UMBRELLA.id),
  key: orderNumber,
  value: JSON.stringify({ orderNumber, responseCode: 'RE', issuedAt: new Date().toISOString(), reason: 'Soaked.' }),
});
