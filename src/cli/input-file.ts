import { readFile } from 'node:fs/promises';
import { text as readText } from 'node:stream/consumers';
import { AppError, messageOf } from '../platform/errors';

/** Text of a file that a command is given; `-` is standard input. Throws an error of this code. */
export async function textOf(file: string, { code, hint }: { code: string; hint: string }): Promise<string> {
  try {
    return file === '-' ? await readText(process.stdin) : await readFile(file, 'utf8');
  } catch (error) {
    throw new AppError(code, `The file ${file} cannot be read.`, { cause: new Error(messageOf(error)), hint });
  }
}
