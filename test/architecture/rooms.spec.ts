import type { ICruiseOptions, ICruiseResult } from 'dependency-cruiser';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { OUTSIDE_ROOMS, ROOMS, RULES } from './room-rules';

const ROOT = join(__dirname, '..', '..');

/** Every broken rule as `rule: from → to`. */
async function violations(baseDir: string, folders: readonly string[]): Promise<string[]> {
  const { cruise } = await import('dependency-cruiser');
  const options: ICruiseOptions = {
    baseDir,
    ruleSet: { forbidden: RULES },
    validate: true,
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    combinedDependencies: false,
    tsConfig: { fileName: join(ROOT, 'tsconfig.json') },
  };
  const { output } = await cruise([...folders], options, { extensions: ['.ts', '.js', '.json'], symlinks: false });
  const { summary } = output as ICruiseResult;
  if (summary.totalCruised === 0) throw new Error('nothing was looked at');
  return summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`);
}

describe('the rooms', () => {
  it('import each other as the table allows, through their doors, without cycles', async () => {
    expect(await violations(ROOT, ['src', 'migrations'])).toEqual([]);
  });

  it('all stand in the table', () => {
    const known = (path: string) => path in ROOMS || OUTSIDE_ROOMS.includes(path);
    const top = readdirSync(join(ROOT, 'src')).filter((name) => name !== 'messaging');
    const messaging = readdirSync(join(ROOT, 'src', 'messaging'), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => `messaging/${entry.name}`);
    expect([...top, ...messaging].filter((path) => !known(path))).toEqual([]);
  });

  it('each have a door', () => {
    // Nobody imports the programs (cli, simulator); platform is a row of rooms.
    const rooms = Object.keys(ROOMS).filter((room) => !['platform', 'cli', 'simulator'].includes(room));
    const without = rooms.filter((room) => {
      const folder = join(ROOT, 'src', room);
      return existsSync(folder) && !existsSync(join(folder, 'index.ts'));
    });
    expect(without).toEqual([]);
  });
});

describe('a planted violation is seen', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-rooms-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const plant = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  let found: string[];

  beforeAll(async () => {
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    plant('package.json', JSON.stringify({ dependencies: { kafkajs: '1', pg: '1' }, devDependencies: { jest: '1' } }));
    plant('src/orders/index.ts', `export const orders = 1;`);
    plant('src/orders/order.ts', `export const order = 1;`);
    plant('src/contracts/index.ts', `import { orders } from '../orders'; export const upward = orders;`);
    plant('src/partners/index.ts', `import { order } from '../orders/order'; export const past = order;`);
    plant('src/health/index.ts', `import { a } from './a'; export const health = a;`);
    plant('src/health/a.ts', `import { b } from './b'; export const a = () => b;`);
    plant('src/health/b.ts', `import { a } from './a'; export const b = () => a;`);
    plant('src/health/dev.ts', `import { run } from 'jest'; export const dev = run;`);
    plant('src/orders/client.ts', `import { Kafka } from 'kafkajs'; export const client = Kafka;`);
    plant('src/simulator/main.ts', `import { Kafka } from 'kafkajs'; export const client = Kafka;`);
    plant(
      'src/orders/domain/decide.ts',
      `import { Client } from 'pg'; import { order } from '../order'; export const d = [Client, order];`,
    );
    plant('src/shipments/index.ts', `import { orders } from '../orders'; export const fine = orders;`);
    found = await violations(folder, ['src']);
  });

  it.each([
    ['an upward import', 'room: contracts: src/contracts/index.ts → src/orders/index.ts'],
    ['a way past the door', 'door: orders: src/partners/index.ts → src/orders/order.ts'],
    ['a cycle', 'no cycle: src/health/a.ts → src/health/b.ts'],
    ['a dev dependency', 'no dev dependency: src/health/dev.ts → node_modules/jest'],
    ['a Kafka client in a business room', 'kafka clients: src/orders/client.ts → node_modules/kafkajs'],
    ['our own client in the simulator', 'the partner has another client: src/simulator/main.ts → node_modules/kafkajs'],
    ['a driver in a decision', 'pure: domain packages: src/orders/domain/decide.ts → node_modules/pg'],
    ['an impure file in a decision', 'pure: domain imports: src/orders/domain/decide.ts → src/orders/order.ts'],
  ])('%s', (_, expected) => {
    expect(found.filter((violation) => violation.startsWith(expected))).not.toEqual([]);
  });

  it('and what is allowed is not reported', () => {
    expect(found.filter((violation) => violation.includes('src/shipments'))).toEqual([]);
  });
});
