import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folder = mkdtempSync(join(tmpdir(), 'parley-demo-spec-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function demo(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const { JAVA_HOME: _, ...inherited } = process.env;
  const run = spawnSync(process.execPath, ['scripts/demo.mjs', ...args], {
    encoding: 'utf8',
    env: { ...inherited, ...env },
    timeout: 50_000,
  });
  return { status: run.status, text: `${run.stdout}${run.stderr}` };
}

/** A folder with a program `java` that prints what an installed one would. */
function javaThatSays(version: string): string {
  const bin = join(mkdtempSync(join(folder, 'bin-')), 'java');
  writeFileSync(bin, `#!/bin/sh\necho 'openjdk version "${version}" 2014-03-18' >&2\n`, { mode: 0o755 });
  return join(bin, '..');
}

describe('the demo', () => {
  it('explains itself', () => {
    expect(demo(['--help'])).toMatchObject({ status: 0, text: expect.stringContaining('--keep') as string });
  });

  it.each([['--orders', '0'], ['--orders', 'many'], ['--fast']])('refuses %s %s with exit code 2', (...args) => {
    expect(demo(args.filter(Boolean)).status).toBe(2);
  });

  it('says that Java is missing, and how to get it', () => {
    const { status, text } = demo([], { PATH: folder });
    expect(status).toBe(1);
    expect(text).toMatch(/No Java found\.[^]*why:[^]*17 or newer[^]*next:[^]*Install one/);
    expect(text).not.toContain('    at ');
  });

  it('says which Java it found when that is too old', () => {
    const { status, text } = demo([], { PATH: `${javaThatSays('1.8.0_392')}:${process.env['PATH']}` });
    expect(status).toBe(1);
    expect(text).toContain('Java is too old: found 1.8.0_392');
  });

  it('says that JAVA_HOME points nowhere', () => {
    expect(demo([], { JAVA_HOME: join(folder, 'nowhere') })).toMatchObject({
      status: 1,
      text: expect.stringContaining('No Java in JAVA_HOME') as string,
    });
  });

  it('says that Maven is missing when Kafka is not in the cache', () => {
    const cache = join(folder, 'cache');
    const { status, text } = demo([], { PATH: javaThatSays('17.0.1'), XDG_CACHE_HOME: cache });
    expect(status).toBe(1);
    expect(text).toMatch(/No Maven found\.[^]*next:[^]*Install Maven/);
    expect(existsSync(join(cache, 'parley', 'kafka-4.4.0-2.25.5'))).toBe(false);
  });
});
