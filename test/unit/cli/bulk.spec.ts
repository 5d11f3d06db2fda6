import { bulk } from '../../../src/cli/bulk';
import { AppError } from '../../../src/platform/errors';

const failing =
  (codes: Record<string, string>) =>
  async (id: string): Promise<void> => {
    const code = codes[id];
    if (code !== undefined) throw new AppError(code, `${id} failed.`, { cause: new Error('It is held.') });
  };
const results = ({ outcomes, exitCode }: Awaited<ReturnType<typeof bulk>>) => [
  ...outcomes.map(({ result }) => result),
  exitCode,
];

describe('the same done to several messages', () => {
  it('goes on after one that is refused, and ends with 3', async () => {
    const done = await bulk(['1', '2', '3'], failing({ 2: 'parked-not-dead' }));
    expect(results(done)).toEqual(['done', 'failed', 'done', 3]);
    expect(done.outcomes[1]).toEqual({
      ...{ id: '2', result: 'failed', code: 'parked-not-dead', detail: '2 failed. It is held.' },
    });
  });

  it('ends with 0 when all was done, with what the first failed of when none was', async () => {
    expect(results(await bulk(['1', '2'], failing({})))).toEqual(['done', 'done', 0]);
    expect(results(await bulk(['1', '2'], failing({ 1: 'version-stale', 2: 'parked-unknown' })))).toEqual([
      'failed',
      'failed',
      4,
    ]);
  });

  it.each(['api-unreachable', 'forbidden'])('stops at %s, and throws it where nothing was done', async (code) => {
    expect(results(await bulk(['1', '2', '3'], failing({ 2: code })))).toEqual(['done', 'failed', 'not-tried', 3]);
    await expect(bulk(['1', '2'], failing({ 1: code }))).rejects.toMatchObject({ code });
  });

  it('of one throws what it failed of', async () => {
    await expect(bulk(['1'], failing({ 1: 'parked-unknown' }))).rejects.toMatchObject({ code: 'parked-unknown' });
  });
});
