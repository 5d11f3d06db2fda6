import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const SCRIPT = join(__dirname, '..', '..', 'scripts', 'soak.mjs');

const soak = (...args: string[]) =>
  promisify(execFile)(process.execPath, [SCRIPT, ...args], { env: { PATH: process.env['PATH'] } }).then(
    ({ stdout, stderr }) => ({ code: 0, text: stdout + stderr }),
    (error: { code: number; stdout: string; stderr: string }) => ({
      code: error.code,
      text: error.stdout + error.stderr,
    }),
  );

describe('the soak', () => {
  it.each([['--seconds', '0'], ['--rate', 'many'], ['--fast']])('refuses %s %s with exit code 2', async (...args) =>
    expect((await soak(...args.filter(Boolean))).code).toBe(2),
  );

  it('accounts for every message of a minute with failing answers, poison, and restarts of broker and database', async () => {
    const { code, text } = await soak('--seconds', '60', '--rate', '15');
    // All of it: the ledger is the report.
    if (code !== 0) throw new Error(text);
    expect(text).toContain('Every message and every notification is accounted for');
    // What it is about did happen.
    expect(text).toMatch(/refused for now by a provider: [1-9].*never said so: [1-9]/);
    expect(text).toMatch(/healed by a retry, or behind one: [1-9].*dead: [1-9]/);
    expect(text).toMatch(/lost 0 {3}repeated 0 {3}out of order 0/);
  }, 900_000);
});
