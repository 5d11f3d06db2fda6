import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, NonRetriableError } from '../../platform/errors';
import type { Channel } from '../domain/notification';
import { KINDS } from '../kinds/catalogue';

const BUILT_IN = join(__dirname, 'files');
const MOST_CHARACTERS = 50_000;

/** What a file is made into, by the end of its name. */
export const PARTS = { email: ['email.subject', 'email.text', 'email.html'], sms: ['sms'] } as const;
export type Part = (typeof PARTS)[keyof typeof PARTS][number];

export const fileOf = (kind: string, part: Part): string => `${kind}.${part}.liquid`;

const partsOf = (channel: Channel): readonly Part[] => (channel === 'webhook' ? [] : PARTS[channel]);

/** Every template that the kinds need. */
export const NEEDED: readonly { kind: (typeof KINDS)[number]; part: Part }[] = KINDS.flatMap((kind) =>
  kind.channels.flatMap((channel) => partsOf(channel).map((part) => ({ kind, part }))),
);

/**
 * The built-in templates, each replaced by the file of its name in `folder` (empty: none). Files whose name begins with `_` are layouts
 * and parts of the others. Read once: nothing is read while something is sent, whatever a template asks for.
 */
export function readTemplates(folder: string): Record<string, string> {
  const own = folder === '' ? {} : readFolder(folder);
  const known = new Set(NEEDED.map(({ kind, part }) => fileOf(kind.name, part)));
  const stray = Object.keys(own).find((name) => !name.startsWith('_') && !known.has(name));
  if (stray !== undefined)
    throw new NonRetriableError(
      'template-unknown',
      `NOTIFICATION_TEMPLATES_DIR has "${stray}", which no notification uses.`,
      {
        hint: `Names are like ${fileOf('order-accepted', 'email.html')}; ${fileOf('order-accepted', 'sms')}. Parts of your own begin with "_".`,
      },
    );
  return { ...readFolder(BUILT_IN), ...own };
}

function readFolder(folder: string): Record<string, string> {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith('.liquid'));
    return Object.fromEntries(names.map((name) => [name, readTemplate(join(folder, name))]));
  } catch (error) {
    throw new NonRetriableError('template-unreadable', `The templates cannot be read: ${messageOf(error)}`, {
      cause: error,
      hint: 'Check NOTIFICATION_TEMPLATES_DIR and the rights to what is in it.',
    });
  }
}

function readTemplate(path: string): string {
  if (statSync(path).size > MOST_CHARACTERS) throw new RangeError(`${path} is larger than ${MOST_CHARACTERS} bytes`);
  return readFileSync(path, 'utf8');
}
