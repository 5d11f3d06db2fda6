import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const OLD = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } })`;

describe('a Node that is too old', () => {
  it.each([
    ['dist/src/main.js', /^parley: .* Start it through npm .*\n$/],
    ['dist/src/cli/main.js', /^parley: .* Start it through npm .*\n$/],
    ['src/kit/files/package/bin/parley-partner.cjs', /^parley-partner: .* Install it .*\n$/],
  ])('is told at once and in words by %s', (file, next) => {
    const script = join(__dirname, '../..', file);
    const args = ['--import', `data:text/javascript,${encodeURIComponent(OLD)}`, script, '--help'];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain('Node 24.11 or newer is needed, this is 20.20.2.');
    expect(stderr).toMatch(next);
  });
});
