import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..', '..');
const RELEASED = join(ROOT, 'test', 'contract', 'released');
const folder = mkdtempSync(join(tmpdir(), 'parley-gate-'));
const dist = join(folder, 'dist');
const schema = (name: string) => join(dist, 'src', 'contracts', name);

beforeAll(() => {
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  cpSync(join(ROOT, 'dist'), dist, { recursive: true });
  // The build says what was released last, whatever the working tree is about to change.
  for (const name of readdirSync(RELEASED)) {
    cpSync(join(RELEASED, name), join(folder, 'released', name), { recursive: true });
    for (const extension of ['avsc', 'proto', 'schema.json']) {
      const newest = readdirSync(join(RELEASED, name))
        .filter((file) => file.endsWith(`.${extension}`))
        .toSorted((a, b) => parseInt(a) - parseInt(b))
        .at(-1);
      if (newest) cpSync(join(RELEASED, name, newest), schema(`${name}.${extension}`));
    }
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function gate(...args: string[]): Promise<{ code: number | null; output: string }> {
  const script = spawn(
    process.execPath,
    [join(ROOT, 'scripts', 'contracts-check.mjs'), '--dist', dist, '--released', join(folder, 'released'), ...args],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let output = '';
  for (const stream of [script.stdout, script.stderr])
    stream.setEncoding('utf8').on('data', (text) => (output += text));
  return new Promise((done) => script.once('close', (code) => done({ code, output })));
}

/** Changes a file of the copied build, runs the gate, and puts the file back. */
async function withChanges(changes: Record<string, (text: string) => string>, ...args: string[]) {
  const before = Object.keys(changes).map((name) => [name, readFileSync(schema(name), 'utf8')] as const);
  for (const [name, text] of before) writeFileSync(schema(name), changes[name]?.(text) ?? text);
  try {
    return await gate(...args);
  } finally {
    for (const [name, text] of before) writeFileSync(schema(name), text);
  }
}

describe('the gate for schemas', () => {
  it('goes red and names member and rule when a schema breaks a released one, in each format', async () => {
    const { code, output } = await withChanges({
      'order-request.v1.avsc': (text) => text.replace('"currency"', '"currencyCode"'),
      'order-response.v1.proto': (text) => text.replace('string issued_at = 3', 'int64 issued_at = 3'),
      'despatch-advice.v1.schema.json': (text) => text.replace('"minItems": 1', '"minItems": 2'),
      'error-report.v1.schema.json': (text) => text.replace('"code", ', ''),
    });
    expect(code).toBe(1);
    expect(output).toMatch(/^avro: .*OrderRequest version 1: currency: field-removed-required: /m);
    expect(output).toMatch(/^protobuf: .*OrderResponse version 1: OrderResponse\.issued_at: type-changed: /m);
    expect(output).toMatch(/^json-schema: .*DespatchAdvice version 1: lines: bound-narrowed: /m);
    expect(output).toMatch(/^json: error-report\.v1 version 1: code: field-removed-required: /m);
    expect(output).toContain('A schema breaks a released one.');
  }, 180_000);

  it('goes red when a change that breaks nothing is not released, and green once it is, beside the text before', async () => {
    const before = readFileSync(schema('order-request.v1.proto'), 'utf8');
    writeFileSync(
      schema('order-request.v1.proto'),
      before.replace('repeated Line', 'optional string incoterm = 500;\n  repeated Line'),
    );
    const red = await gate();
    expect(red.code).toBe(1);
    for (const format of ['avro', 'protobuf', 'json-schema']) expect(red.output).toContain(`${format}: no break`);
    expect(red.output).toContain('Not released: order-request.v1 (protobuf).');
    const released = () =>
      readdirSync(join(folder, 'released', 'order-request.v1')).filter((file) => file.endsWith('.proto'));
    const count = released().length;
    const told = await gate('--release');
    expect(told.output).toContain(`released order-request.v1/${count + 1}.proto`);
    expect(told.code).toBe(0);
    expect(released()).toHaveLength(count + 1);
    expect(readFileSync(join(folder, 'released', 'order-request.v1', `${count}.proto`), 'utf8')).toBe(before);
  }, 300_000);

  it('goes red when a document has no text in one of the formats', async () => {
    const file = schema('despatch-advice.v1.proto');
    const before = readFileSync(file, 'utf8');
    rmSync(file);
    try {
      const { code, output } = await gate();
      expect(code).toBe(1);
      expect(output).toMatch(/^despatch-advice\.v1 has no protobuf\.$/m);
    } finally {
      writeFileSync(file, before);
    }
  });

  it('goes red when a released document is stated no more', async () => {
    cpSync(join(folder, 'released', 'error-report.v1'), join(folder, 'released', 'invoice.v1'), { recursive: true });
    const { code, output } = await gate();
    expect(code).toBe(1);
    expect(output).toContain('invoice.v1: released, and no contract states it any more.');
  });
});
