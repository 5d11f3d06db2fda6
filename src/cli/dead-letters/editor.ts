import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppError } from '../../platform/errors';

/** A text that somebody works on, in a file of its own that nobody else can read. */
export class Draft {
  private constructor(
    private readonly folder: string,
    readonly file: string,
  ) {}

  static async of(name: string, text: string): Promise<Draft> {
    const folder = await mkdtemp(join(tmpdir(), 'parley-edit-'));
    const draft = new Draft(folder, join(folder, name));
    await writeFile(draft.file, text, { mode: 0o600 });
    return draft;
  }

  /** Opens $VISUAL, else $EDITOR, else vi, and returns the text as it was left. Throws `editor-failed`. */
  async edit(env: NodeJS.ProcessEnv = process.env): Promise<string> {
    const editor = env['VISUAL']?.trim() || env['EDITOR']?.trim() || 'vi';
    await withoutInterrupt(async () => {
      // By a shell: people set "code --wait".
      const child = spawn(`${editor} "${this.file}"`, { shell: true, stdio: 'inherit', env });
      const [code] = (await once(child, 'exit')) as [number | null];
      if (code === 0) return;
      throw new AppError('editor-failed', `The editor ended with ${code ?? 'a signal'}: ${editor}`, {
        hint: 'Set EDITOR to the command of yours, or give the whole document with --document FILE.',
      });
    });
    return readFile(this.file, 'utf8');
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true });
  }
}

/** Ctrl-C in the editor is the editor's. */
async function withoutInterrupt(work: () => Promise<void>): Promise<void> {
  const listeners = process.rawListeners('SIGINT') as (() => void)[];
  const nothing = () => undefined;
  process.removeAllListeners('SIGINT').on('SIGINT', nothing);
  try {
    await work();
  } finally {
    process.off('SIGINT', nothing);
    for (const listener of listeners) process.on('SIGINT', listener);
  }
}
