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

/**
 * What a text holds; `name` is where it came from. Throws `document-no-json`, which names the place and repeats nothing of the text:
 * documents hold what not everybody may see.
 */
export function jsonOf(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const said = messageOf(error);
    const lines = text.slice(0, faultIn(text, said)).split('\n');
    const place = `line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`;
    const reason = said.replace(/(?:(?: in JSON)? at position |, (?:\.\.\.)?").*$/s, '');
    throw new AppError('document-no-json', `Nothing is changed: ${name} is no JSON at ${place}: ${reason}.`, {
      cause: new Error(reason),
      hint: 'JSON has names and texts in double quotes, a point in numbers, and no comma behind the last member.',
    });
  }
}

const WRONG_TOKEN = 'Unexpected token';

/** V8 tells no place of a token that is wrong where it stands: the shortest beginning of the text with the same fault ends there. */
function faultIn(text: string, message: string): number {
  const told = / at position (\d+)/.exec(message)?.[1];
  if (told !== undefined) return Number(told);
  if (!message.startsWith(WRONG_TOKEN)) return text.length;
  let [sound, faulty] = [0, text.length];
  while (faulty - sound > 1) {
    const middle = Math.floor((sound + faulty) / 2);
    if (hasWrongToken(text.slice(0, middle))) faulty = middle;
    else sound = middle;
  }
  return sound;
}

function hasWrongToken(text: string): boolean {
  try {
    JSON.parse(text);
    return false;
  } catch (error) {
    return messageOf(error).startsWith(WRONG_TOKEN);
  }
}
