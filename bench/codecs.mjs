import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { load } from './parley.mjs';

export const title = 'Codecs: one document to bytes and back, beside the bare libraries';

const contracts = load('../dist/src/contracts/index.js');
const { createCodec } = load('../dist/src/messaging/registry/index.js');
const avsc = load('avsc');
const protobuf = load('protobufjs');

const { schemaFileOf, recordNameOf, subjectFor, REGISTERED_FORMATS } = contracts;
/** What our layer may cost more than the bare library. */
const AIM = 1 / 1.25;
const TOPIC = 'orders.bench.request.v1';

const textOf = (contract, format) => readFileSync(schemaFileOf(contract, format), 'utf8');

/** A contract's schemas as a registry that answers from memory: what is measured comes after its first answer. */
function memoryRegistry(list) {
  const schemas = list.flatMap((contract) =>
    REGISTERED_FORMATS.map((format) => ({
      subject: subjectFor(contract, TOPIC),
      format,
      text: textOf(contract, format),
      references: [],
    })),
  );
  schemas.forEach((schema, i) => Object.assign(schema, { id: 1000 + i, version: i + 1 }));
  return {
    versions: async (subject) => schemas.filter((schema) => schema.subject === subject),
    lookup: async (subject, { format, text }) =>
      schemas.find((schema) => schema.subject === subject && schema.format === format && schema.text === text),
  };
}

/** The same work by the library alone: no frame, no look-up, no mapping to the contract's form, no rules. */
function bare(contract, format, value) {
  if (format === 'avro') {
    const type = avsc.Type.forSchema(JSON.parse(textOf(contract, 'avro')));
    const bytes = type.toBuffer(value);
    return { encode: () => type.toBuffer(value), decode: () => type.fromBuffer(bytes) };
  }
  if (format === 'protobuf') {
    const type = protobuf.parse(textOf(contract, 'protobuf')).root.lookupType(recordNameOf(contract));
    const bytes = type.encode(value).finish();
    return { encode: () => type.encode(value).finish(), decode: () => type.decode(bytes) };
  }
  const bytes = Buffer.from(JSON.stringify(value));
  return { encode: () => Buffer.from(JSON.stringify(value)), decode: () => JSON.parse(bytes.toString()) };
}

/** Nanoseconds of one call: the best of many short rounds, for the rest is what the machine did besides. */
class Timer {
  best = Infinity;
  constructor(work) {
    this.work = work;
  }
  async round(calls) {
    const began = performance.now();
    for (let i = 0; i < calls; i++) await this.work();
    this.best = Math.min(this.best, ((performance.now() - began) * 1e6) / calls);
  }
  /** The bare libraries wait for nothing, and are not made to. */
  roundSync(calls) {
    const began = performance.now();
    for (let i = 0; i < calls; i++) this.work();
    this.best = Math.min(this.best, ((performance.now() - began) * 1e6) / calls);
  }
}

async function measure(works, quick) {
  const timers = Object.fromEntries(Object.entries(works).map(([name, work]) => [name, new Timer(work)]));
  for (let round = 0; round < (quick ? 10 : 60); round++) {
    for (const [name, timer] of Object.entries(timers)) {
      if (name.startsWith('bare')) timer.roundSync(1000);
      else await timer.round(1000);
    }
  }
  return Object.fromEntries(Object.entries(timers).map(([name, { best }]) => [name, best]));
}

const line = (lineNumber) => ({ lineNumber, item: 'A-100-4711', quantity: '12.5', unit: 'C62', unitPrice: '9.99' });
const order = (lines) => ({
  orderNumber: 'PO-000004711',
  issuedAt: '2026-02-03T04:05:06.789Z',
  currency: 'EUR',
  lines: Array.from({ length: lines }, (_, i) => line(i + 1)),
});

const DOCUMENTS = [
  ['order of 5 lines', contracts.orderRequest, order(5)],
  ['answer', contracts.orderResponse, contracts.orderResponse.examples[0]],
  ['order of 100 lines', contracts.orderRequest, order(100)],
];

export async function run({ report, quick }) {
  const answered = async () => DOCUMENTS;
  const { promise } = await measure({ promise: answered }, quick);
  const note =
    'the least that an answer by promise costs; the door is asynchronous, since a schema may have to be fetched';
  report({ name: 'an awaited promise and nothing else', value: 1e9 / promise, unit: 'ops/s', note });
  for (const [document, contract, value] of DOCUMENTS) {
    // Without rules: the same contract with a schema that allows everything.
    const free = { ...contract, jsonSchema: { type: 'object' } };
    const codec = createCodec(memoryRegistry([contract, free]));
    for (const format of [...REGISTERED_FORMATS, 'json']) {
      const route = { topic: TOPIC, format };
      const { encode, decode } = bare(contract, format, value);
      const record = { value: (await codec.encode(contract, route, value)).payload, headers: {} };
      const decoded = await codec.decode(free, route, record);
      if (!decoded.ok) throw new Error(JSON.stringify(decoded));
      const ns = await measure(
        {
          'bare encode': encode,
          'layer encode': () => codec.encode(free, route, value),
          'whole encode': () => codec.encode(contract, route, value),
          'bare decode': decode,
          'layer decode': () => codec.decode(free, route, record),
          'whole decode': () => codec.decode(contract, route, record),
        },
        quick,
      );
      for (const way of ['encode', 'decode']) {
        const perSecond = (name) => 1e9 / ns[`${name} ${way}`];
        const name = `${document}, ${format}, ${way}`;
        report({ name: `${name}: bare library`, value: perSecond('bare'), unit: 'ops/s' });
        const ratio = (which) => perSecond(which) / perSecond('bare');
        report({
          ...{ name: `${name}: our layer`, value: perSecond('layer'), unit: 'ops/s' },
          ...{ ratio: ratio('layer'), ratioTo: 'bare', aim: AIM },
        });
        report({
          ...{ name: `${name}: with the rules`, value: perSecond('whole'), unit: 'ops/s' },
          ...{ ratio: ratio('whole'), ratioTo: 'bare' },
        });
      }
    }
  }
}
