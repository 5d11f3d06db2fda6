import { KEYS } from './keys';
import type { Key } from './parsers';

/** The text of `.env.example`, made from the same table that reads the environment, so that the two can't differ. */
export function envExample(): string {
  const entries = (Object.values(KEYS) as Key<unknown>[]).map((key) => {
    const file = key.secret ? ` Or ${key.env}_FILE: path of a file that holds it, read anew when it changes.` : '';
    const except = key.unneededBy ? `, but not where ROLES=${key.unneededBy.join(',')}` : '';
    const about = `# ${key.doc}${file}\n# Unit: ${key.unit}. ${key.fallback === undefined ? `Required${except}.` : `Default: ${key.fallback || '(empty)'}.`}`;
    return key.fallback === undefined
      ? `${about}\n${key.env}=${EXAMPLES[key.env] ?? ''}`
      : `${about}\n#${key.env}=${key.fallback}`;
  });
  return `# Environment of Parley. Copy to .env, or set the variables where the process starts.\n\n${entries.join('\n\n')}\n`;
}

const EXAMPLES: Record<string, string> = {
  DATABASE_URL: 'postgres://parley:change-me@127.0.0.1:5432/parley',
  KAFKA_BROKERS: '127.0.0.1:9092',
};
