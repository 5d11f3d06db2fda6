import { load } from 'js-yaml';
import { messageOf, NonRetriableError } from '../errors';

/** A file of a few dozen lines; whatever is larger is another file. */
const MAX_BYTES = 65_536;

/**
 * The YAML (or JSON) text of a file that a person wrote, as plain data that nobody has checked yet. Throws an error of this code with line and
 * column. Aliases are refused: a few of them make a document of any size.
 */
export function parseYaml(text: string, { code, hint }: { code: string; hint: string }): unknown {
  const unreadable = (why: string, cause?: unknown) => new NonRetriableError(code, `The file ${why}.`, { cause, hint });
  if (Buffer.byteLength(text) > MAX_BYTES) throw unreadable(`has more than ${MAX_BYTES} bytes`);
  try {
    return load(text, { maxAliases: 0 });
  } catch (error) {
    throw unreadable(`is not YAML: ${messageOf(error).split('\n', 1)[0]}`, error);
  }
}
