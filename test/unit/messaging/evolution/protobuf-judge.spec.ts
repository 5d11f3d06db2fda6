import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, type Type } from 'protobufjs';
import { judgeSchemas } from '../../../../src/messaging/evolution';
import { protoText } from './protobuf-change';
import { FIELD_CHANGES } from './protobuf-field-changes';
import { FILE_CHANGES } from './protobuf-file-changes';

const PROTOBUF_CHANGES = [...FIELD_CHANGES, ...FILE_CHANGES];

const judged = (older: string, newer: string) =>
  judgeSchemas('protobuf', older, newer).map(({ place, rule }) => `${place} ${rule}`);

describe('Protobuf', () => {
  it.each(PROTOBUF_CHANGES.map((change) => [change.what, change] as const))('%s', (_, change) => {
    expect(judged(protoText(change, 0, 'p.v1'), protoText(change, 1, 'p.v1'))).toEqual(change.breaks);
  });

  it('sees another package', () => {
    const [older, newer] = ['p.v1', 'p.v2'].map((name) => `syntax = "proto3"; package ${name}; message A {}`);
    expect(judged(older ?? '', newer ?? '')).toEqual([' package-changed']);
  });

  it('takes a type for the same however its name is written', () => {
    const text = (type: string) =>
      `syntax = "proto3"; package p; message A { ${type} b = 1; google.type.Date d = 2; message B {} }`;
    expect(judged(text('B'), text('.p.A.B'))).toEqual([]);
  });

  it.each([
    ['no Protobuf', 'message'],
    ['a field twice', 'syntax = "proto3"; message A { int32 a = 1; int32 b = 1; }'],
    ['messages nested beyond measure', `syntax = "proto3";${'message A {'.repeat(100_000)}`],
    ['text beyond measure', `syntax = "proto3"; //${'x'.repeat(1_100_000)}`],
    ['a name that a parser leaves out', 'syntax = "proto3"; message A { string __proto__ = 1; }'],
  ])('calls unreadable what is %s', (_, text) => {
    const fine = 'syntax = "proto3"; message A {}';
    expect(judged(text, fine)).toEqual([' unreadable']);
    expect(judged(fine, text)).toEqual([' unreadable']);
  });
});

describe('buf, as another judge', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-buf-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  let refused: Set<string>;

  beforeAll(() => {
    for (const version of [0, 1] as const) {
      const side = join(folder, String(version));
      mkdirSync(side);
      writeFileSync(join(side, 'buf.yaml'), 'version: v2\nbreaking:\n  use: [WIRE_JSON]\n');
      PROTOBUF_CHANGES.forEach((change, n) =>
        writeFileSync(join(side, `c${n}.proto`), protoText(change, version, `c${n}`)),
      );
    }
    refused = new Set(buf(folder).map((line) => (JSON.parse(line) as { path: string }).path));
  });

  it.each(PROTOBUF_CHANGES.map((change, n) => [change.what, change, n] as const))('%s', (_, change, n) => {
    expect(refused.has(`c${n}.proto`)).toBe(change.buf);
    // A difference is stated with its reason, and only a difference is.
    expect(change.why === undefined).toBe(change.buf === change.breaks.length > 0);
  });

  it('finds nothing where Parley finds nothing', () => {
    const lax = PROTOBUF_CHANGES.filter(({ breaks }, n) => breaks.length === 0 && refused.has(`c${n}.proto`));
    expect(lax.map(({ what }) => what)).toEqual([]);
  });
});

/** What `buf breaking` prints, a line a finding. */
function buf(folder: string): string[] {
  const binary = join(__dirname, '..', '..', '..', '..', 'node_modules', '.bin', 'buf');
  try {
    execFileSync(binary, ['breaking', '--against', '../0', '--error-format', 'json'], {
      cwd: join(folder, '1'),
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'], HOME: folder },
    });
    return [];
  } catch (error) {
    const { status, stdout, stderr } = error as { status: number; stdout: Buffer; stderr: Buffer };
    // 100: buf found something.
    if (status !== 100) throw new Error(`buf ended with ${status}: ${stderr.toString()}`, { cause: error });
    return stdout.toString().trim().split('\n');
  }
}

it('a file of more statements than its parser takes in a moment is not parsed', () => {
  const fields = (count: number) => Array.from({ length: count }, (_, i) => `int32 a${i} = ${i + 1};`).join('');
  const judged = (count: number) => {
    const text = `syntax = "proto3"; message A { ${fields(count)} }`;
    return judgeSchemas('protobuf', text, 'syntax = "proto3"; message A {}').map(({ rule }) => rule);
  };
  expect(judged(1999)).not.toContain('unreadable');
  expect(judged(2000)).toEqual(['unreadable']);
});

describe('no change of a scalar type keeps every value in both directions', () => {
  const WITNESSES: Readonly<Record<string, readonly unknown[]>> = {
    ...Object.fromEntries(
      ['int32', 'sint32', 'sfixed32', 'int64', 'sint64', 'sfixed64'].map((type) => [type, [-1, 1, 2, 2 ** 31 - 1]]),
    ),
    ...Object.fromEntries(['uint32', 'fixed32', 'uint64', 'fixed64'].map((type) => [type, [1, 2, 2 ** 32 - 1]])),
    ...Object.fromEntries(['int64', 'sint64', 'sfixed64'].map((type) => [type, [-1, 1, 2, 2 ** 40]])),
    ...{ uint64: [1, 2, 2 ** 40], fixed64: [1, 2, 2 ** 40], bool: [true], float: [1.5], double: [1.5] },
    ...{ string: ['é'], bytes: [Buffer.from([0xff])] },
  };
  const types = Object.keys(WITNESSES);
  const message = (type: string): Type =>
    parse(`syntax = "proto3"; message A { optional ${type} a = 1; }`).root.lookupType('A');

  /** Does every witness written as one type read as the same when it is taken for the other? */
  function survives(written: string, read: string): boolean {
    return (WITNESSES[written] ?? []).every((value) => {
      try {
        const bytes = message(written).encode({ a: value }).finish();
        const back = message(read).toObject(message(read).decode(bytes), { longs: String, bytes: String });
        return String(back['a']) === String(Buffer.isBuffer(value) ? value.toString('base64') : value);
      } catch {
        return false;
      }
    });
  }

  it('of all pairs', () => {
    const pairs = types.flatMap((a) => types.filter((b) => b > a).map((b) => [a, b] as const));
    expect(types.every((type) => survives(type, type))).toBe(true);
    expect(pairs.filter(([a, b]) => survives(a, b) && survives(b, a))).toEqual([]);
  });
});
