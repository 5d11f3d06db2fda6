import { load } from 'js-yaml';
import { messageOf, NonRetriableError } from '../../platform/errors';

/** A file of a few dozen lines; whatever is larger is another file. */
const MAX_BYTES = 65_536;

/**
 * The YAML (or JSON) text of a partner's file, as plain data that nobody has checked yet. Throws `partner-file-unreadable` with line and column.
 * Aliases are refused: a few of them make a document of any size.
 */
export function parsePartnerFile(text: string): unknown {
  if (Buffer.byteLength(text) > MAX_BYTES) throw unreadable(`has more than ${MAX_BYTES} bytes`);
  try {
    return load(text, { maxAliases: 0 });
  } catch (error) {
    throw unreadable(`is not YAML: ${messageOf(error).split('\n', 1)[0]}`, error);
  }
}

const unreadable = (why: string, cause?: unknown): NonRetriableError =>
  new NonRetriableError('partner-file-unreadable', `The file ${why}.`, {
    cause,
    hint: 'docs/partners/acme.yaml is one that shows everything that can be said.',
  });
