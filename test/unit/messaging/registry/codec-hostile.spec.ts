import { Type } from 'avsc';
import { createContext, Script } from 'node:vm';
import { orderResponse } from '../../../../src/contracts';
import { createCodec, type Route } from '../../../../src/messaging/registry';
import { cpuMs } from '../../../support/cpu-time';
import { publishedRegistry } from './documents';
import { ANSWER, answerBytes, bytes, head, read, refused, TOPIC } from './hostile-writer';

/** The writer's schema with one more field in front, which ours does not have. */
const withField = (type: unknown) => ({
  type: 'record',
  name: 'OrderResponse',
  fields: [{ name: 'extra', type }, ...head],
});

/** Whether a call comes back within a moment; V8 ends it where it does not. */
function comesBack(work: () => unknown): boolean {
  try {
    new Script('work()').runInContext(createContext({ work: () => void attempt(work) }), { timeout: 300 });
    return true;
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false;
    throw error;
  }
}

function attempt(work: () => unknown): void {
  try {
    work();
  } catch {
    // An error is an answer.
  }
}

const nulls = { type: 'array', items: 'null' };
const texts = { type: 'array', items: 'string' };

/** Record of records of records …, each with two fields whose default is an empty one: 2^n of them. */
function doublingDefaults(depth: number): object {
  let type: object = { type: 'record', name: 'R0', fields: [{ name: 'a', type: 'int', default: 1 }] };
  for (let i = 1; i <= depth; i++) {
    const fields = [
      { name: 'a', type, default: {} },
      { name: 'b', type: `R${i - 1}`, default: {} },
    ];
    type = { type: 'record', name: `R${i}`, fields };
  }
  return type;
}

describe("a writer of Avro that means harm, where avsc's own reader does not come back", () => {
  it.each([
    ['a block that leads back to itself', texts, bytes(-1n, -2n), /ends too early/],
    ['2^40 items of no bytes', nulls, bytes(2n ** 40n, 0n), /claims more items than it has bytes/],
    ['many arrays of many items of no bytes', { type: 'array', items: nulls }, manyArrays(), /claims more items/],
    ['a map of 2^40 empty keys with empty values', { type: 'map', values: 'null' }, bytes(2n ** 40n), /claims more/],
  ])('%s', async (_case, type, body, detail) => {
    const whole = bytes(body, answerBytes);
    const resolver = () => {
      const reader = Type.forSchema({ type: 'record', name: 'OrderResponse', fields: head } as never);
      const writer = Type.forSchema(withField(type) as never);
      return reader.fromBuffer(whole, reader.createResolver(writer)) as unknown;
    };
    expect(comesBack(resolver)).toBe(false);
    expect(await read('avro', withField(type), whole)).toEqual(refused('undecodable', detail));
  });

  it('defaults that double with each level: we never fill in what a writer would', async () => {
    expect(comesBack(() => Type.forSchema(withField(doublingDefaults(30)) as never))).toBe(false);
    const values = Buffer.alloc(2 ** 10);
    const whole = bytes(values, answerBytes);
    expect(await read('avro', withField(doublingDefaults(10)), whole)).toMatchObject({ ok: true, value: ANSWER });
  });

  function manyArrays(): Buffer {
    const inner = bytes(100_000n, 0n);
    return bytes(20_000n, ...Array.from({ length: 20_000 }, () => inner), 0n);
  }
});

describe('a writer of Avro that means harm', () => {
  const tree = { type: 'record', name: 'Tree', fields: [{ name: 'next', type: ['null', 'Tree'] }] };

  it.each([
    ['recursion as deep as the bytes allow', tree, Buffer.alloc(1_000_000, 2), /nests deeper than 100 levels/],
    ['a length beyond the end', 'string', bytes(2n ** 62n), /ends too early/],
    ['a negative length', 'bytes', bytes(-5n), /ends too early/],
    ['a number without an end', 'long', Buffer.alloc(1000, 0xff), /more than 10 bytes/],
    ['a branch that is not there', ['null', 'int'], bytes(7n), /no branch 7/],
    ['a negative branch', ['null', 'int'], bytes(-1n), /no branch -1/],
    ['a fixed value larger than all memory', { type: 'fixed', name: 'F', size: 2 ** 40 }, bytes(1n), /ends too early/],
  ])('%s', async (_case, type, body, detail) => {
    expect(await read('avro', withField(type), bytes(body, answerBytes))).toEqual(refused('undecodable', detail));
  });

  it('items of ours are no more than the bytes either', async () => {
    const lines = {
      name: 'lines',
      type: { type: 'array', items: { type: 'record', name: 'OrderResponseLine', fields: [] } },
    };
    const schema = { type: 'record', name: 'OrderResponse', fields: [...head, lines] };
    expect(await read('avro', schema, bytes(answerBytes, 2n ** 40n))).toMatchObject({ ok: false });
    const ours = {
      ...lines,
      type: { type: 'array', items: { type: 'record', name: 'OrderResponseLine', fields: lineFields } },
    };
    const whole = bytes(answerBytes, -(2n ** 40n), 1n);
    expect(await read('avro', { ...schema, fields: [...head, ours] }, whole)).toEqual(
      refused('undecodable', /claims more items/),
    );
  });

  const lineFields = [
    { name: 'lineNumber', type: 'int' },
    { name: 'quantity', type: 'string' },
    { name: 'unitPrice', type: 'string' },
  ];

  it('a field that has the name of what every object has is read like all others', async () => {
    const fields = ['constructor', 'toString', '__proto__', 'hasOwnProperty'].map((name) => ({ name, type: 'string' }));
    const schema = { type: 'record', name: 'OrderResponse', fields: [...fields, ...head] };
    const whole = bytes(...fields.flatMap(() => [1n, Buffer.from('x')]), answerBytes);
    expect(await read('avro', schema, whole)).toMatchObject({ ok: true, value: ANSWER });
  });

  it('bytes after the document', async () => {
    const schema = { type: 'record', name: 'OrderResponse', fields: head };
    expect(await read('avro', schema, bytes(answerBytes, 0n))).toEqual(refused('undecodable', /1 bytes are left over/));
  });

  it('text that is not UTF-8', async () => {
    const schema = { type: 'record', name: 'OrderResponse', fields: head };
    const broken = Buffer.from(answerBytes);
    broken[1] = 0xff;
    expect(await read('avro', schema, broken)).toEqual(refused('undecodable', /not UTF-8/));
  });
});

describe('a schema of Avro that can not be read as ours', () => {
  const answer = (changed: object) => ({
    type: 'record',
    name: 'OrderResponse',
    fields: head.map((field) => (field.name === 'responseCode' ? { ...field, ...changed } : field)),
  });

  it.each([
    [
      'an enum for a text',
      answer({ type: { type: 'enum', name: 'Code', symbols: ['AP'] } }),
      /responseCode: enum "Code"/,
    ],
    ['a number for a text', answer({ type: 'long' }), /responseCode: long can't be read as string/],
    [
      'a decimal for a text',
      answer({ type: { type: 'bytes', logicalType: 'decimal', precision: 4 } }),
      /bytes of a logical/,
    ],
    [
      'without a required field',
      { type: 'record', name: 'OrderResponse', fields: head.slice(1) },
      /has no orderNumber/,
    ],
    ['another record', { type: 'record', name: 'Other', fields: head }, /record "Other"/],
    ['no record', '"string"', /string can't be read as record/],
    ['no JSON', 'syntax = "proto3";', /not JSON/],
    ['a name that is not defined', answer({ type: 'Nothing' }), /uses "Nothing"/],
    ['something else for a type', answer({ type: 17 }), /neither name, union nor object/],
    ['the same name twice', answer({ type: [answer({}), 'null'] }), /defines "OrderResponse" twice/],
    ['the same branch twice', answer({ type: ['string', 'string'] }), /same branch twice/],
    ['nested without end', `${'{"type":'.repeat(70)}"int"${'}'.repeat(70)}`, /deeper than 64/],
    ['fields that are no list', { type: 'record', name: 'OrderResponse', fields: 'x' }, /something else where a list/],
    ['null', 'null', /neither name/],
  ])('%s', async (_case, schema, detail) => {
    expect(await read('avro', schema, answerBytes)).toEqual(refused('schema-mismatch', detail));
  });

  it('but for one branch of a union: the record decides', async () => {
    const schema = answer({ type: ['long', 'string'] });
    const [number, ...rest] = [answerBytes.subarray(0, 8), answerBytes.subarray(8)] as [Buffer, Buffer];
    expect(await read('avro', schema, bytes(number, 1n, ...rest))).toMatchObject({ ok: true, value: ANSWER });
    expect(await read('avro', schema, bytes(number, 0n, ...rest))).toEqual(
      refused('schema-mismatch', /long can't be read/),
    );
  });
});

describe('a writer of Protobuf that means harm', () => {
  const proto = 'syntax = "proto3"; package parley.v1; message OrderResponse { string order_number = 1; }';
  const good = async () => {
    const route: Route = { topic: TOPIC, format: 'protobuf' };
    const { payload } = await createCodec(publishedRegistry('acme')).encode(orderResponse, route, ANSWER);
    return payload.subarray(6);
  };

  it.each([
    ['groups as deep as the bytes allow', Buffer.alloc(1_000_000, 0x7b), /nests deeper than 100 levels/],
    ['a group that ends as another', Buffer.from([0x7b, 0x84, 0x01]), /another's end/],
    ['a length beyond the end', Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f]), /ends too early/],
    ['a message beyond the end', Buffer.from([0x2a, 0x40, 0x12, 0x01, 0x41]), /ends too early/],
    [
      'a field beyond its message',
      Buffer.from([0x2a, 0x02, 0x12, 0x02, 0x41, 0x41]),
      /a field reaches beyond its message/,
    ],
    ['a number without an end', Buffer.alloc(100, 0xff), /more than 10 bytes/],
    ['field number 0', Buffer.from([0x00, 0x01]), /no field 0/],
    ['wire type 7', Buffer.from([0x7f]), /no wire type 7/],
    ['text that is not UTF-8', Buffer.from([0x0a, 0x02, 0xc3, 0x28]), /not UTF-8/],
    ['half a surrogate pair', Buffer.from([0x0a, 0x03, 0xed, 0xa0, 0xbd]), /not UTF-8/],
  ])('%s', async (_case, body, detail) => {
    expect(await read('protobuf', proto, bytes(Buffer.from([0]), await good(), body))).toEqual(
      refused('undecodable', detail),
    );
  });

  it('fields that we do not know, of all kinds, change nothing', async () => {
    const unknown = ['7801', '79' + '00'.repeat(8), '7a0161', '7b7801' + '7c', '7d00000000', '08' + '05'].join('');
    const whole = bytes(Buffer.from([0]), await good(), Buffer.from(unknown, 'hex'));
    expect(await read('protobuf', proto, whole)).toMatchObject({ ok: true, value: ANSWER });
  });

  it.each([
    ['20 million indexes', Buffer.from('80dac409', 'hex')],
    ['a negative number of them', Buffer.from('01', 'hex')],
    ['a negative index', Buffer.from('0201', 'hex')],
    ['an index beyond 31 bits', Buffer.from('02feffffffffff0f', 'hex')],
  ])('%s for the place of its message', async (_case, indexes) => {
    expect(await read('protobuf', proto, indexes)).toMatchObject({ ok: false, error: { code: 'undecodable' } });
  });

  it.each([
    ['no message there', proto, '0202', /no message at 1/],
    ['braces without end', 'message '.repeat(3) + '{'.repeat(100_000), '00', /holds a message|no message/],
    ['comments without end', '/*'.repeat(500_000), '00', /no message/],
    ['strings without end', String.raw`\"`.repeat(500_000), '00', /no message/],
    ['a text of a million words', 'a '.repeat(600_000), '00', /more than 500000 words/],
    ['a name in a comment', '/* message OrderResponse {} */ // message OrderResponse {}\n', '00', /no message/],
    ['a name in a string', 'option x = "message OrderResponse { }";', '00', /no message/],
    ['a message in a service', 'package parley.v1; service S { message OrderResponse {} }', '00', /no message/],
    ['another package', 'package acme; message OrderResponse {}', '00', /holds a acme.OrderResponse/],
  ])('a file with %s', async (_case, text, indexes, detail) => {
    const began = cpuMs();
    expect(await read('protobuf', text, Buffer.from(indexes, 'hex'))).toEqual(refused('schema-mismatch', detail));
    expect(cpuMs() - began).toBeLessThan(2000);
  });
});
