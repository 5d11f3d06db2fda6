import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const OLD = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } })`;

describe('a Node that is too old', () => {
  it.each(['main.js', 'cli/main.js'])('is told at once and in words by %s', (file) => {
    const script = join(__dirname, '../../dist/src', file);
    const args = ['--import', `data:text/javascript,${encodeURIComponent(OLD)}`, script, '--help'];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^parley: Node 24\.11 or newer is needed, this is 20\.20\.2\. Start it through npm .*\n$/);
  });
});
