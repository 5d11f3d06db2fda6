import { existsSync, readFileSync, statSync } from 'node:fs';
import { Draft } from '../../../../src/cli/dead-letters/editor';

const env = (change: NodeJS.ProcessEnv) => ({ PATH: process.env['PATH'], ...change });

describe('a draft', () => {
  it('is given to the editor as a file for its owner alone, read again, and gone afterwards', async () => {
    const draft = await Draft.of('dead-letter-1.json', '{"a": "1,5"}');
    expect(statSync(draft.file).mode & 0o077).toBe(0);
    expect(await draft.edit(env({ EDITOR: 'sed -i s/,5/.5/' }))).toBe('{"a": "1.5"}');
    await draft.remove();
    expect(existsSync(draft.file)).toBe(false);
  });

  it('is left where it is when the editor fails', async () => {
    const draft = await Draft.of('x.json', 'text');
    try {
      await expect(draft.edit(env({ VISUAL: 'false', EDITOR: 'true' }))).rejects.toMatchObject({
        code: 'editor-failed',
      });
      expect(readFileSync(draft.file, 'utf8')).toBe('text');
    } finally {
      await draft.remove();
    }
  });

  it('is not ended by Ctrl-C in the editor, and what listened before listens again', async () => {
    const heard = jest.fn();
    process.once('SIGINT', heard);
    const before = process.listenerCount('SIGINT');
    const draft = await Draft.of('x.json', '');
    try {
      const editing = draft.edit(env({ EDITOR: 'true' }));
      process.emit('SIGINT');
      await editing;
      expect(heard).not.toHaveBeenCalled();
      expect(process.listenerCount('SIGINT')).toBe(before);
    } finally {
      process.off('SIGINT', heard);
      await draft.remove();
    }
  });
});
