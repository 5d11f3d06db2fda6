import { Command, InvalidArgumentError } from 'commander';
import { systemClock } from '../platform/clock';
import { AuditLog, type AuditRecord } from '../staff';
import { withDatabase } from './context';
import { hint, print } from './output';
import { duration } from './duration';
import { staffCaller } from './staff-caller';

interface AuditOptions {
  caller?: string;
  action?: string;
  object?: string;
  since?: number;
  limit: number;
  json: boolean;
}

const most = (raw: string): number => {
  if (!/^\d{1,4}$/.test(raw) || +raw < 1) throw new InvalidArgumentError('a whole number from 1 to 9999');
  return +raw;
};

export function auditCommand(): Command {
  return new Command('audit')
    .description('What staff did, newest first; entries are never changed or deleted.')
    .option('--caller <id>', 'only what this key or user did: key_9f86d081884c, cli:parley')
    .option('--action <name>', 'only this action: api-key.create')
    .option('--object <name>', 'only what was done to this: api-key/key_9f86d081884c')
    .option('--since <time>', 'only the last such time: 7d, 12h, 30m', duration)
    .option('--limit <n>', 'most entries', most, 50)
    .option('--json', 'machine-readable result', false)
    .addHelpText('before', 'Examples:\n  parley audit --since 7d\n  parley audit --object api-key/key_9f86d081884c\n')
    .action(list);
}

async function list({ caller, action, object, since, limit, json }: AuditOptions): Promise<void> {
  await withDatabase(async (database) => {
    const from = since === undefined ? undefined : new Date(systemClock.now().getTime() - since);
    const filter = { caller, action, object, since: from };
    const { items, nextCursor } = await new AuditLog(database).page(staffCaller(), filter, limit);
    print(json, items, items.map(lineOf));
    if (json) return;
    if (items.length === 0) hint('Nothing found.');
    if (nextCursor !== null) hint(`There are more: --limit shows up to 9999, and ${items.length} are shown.`);
  });
}

function lineOf({ at, caller, callerName, action, object, partner, reason, origin }: AuditRecord): string {
  const who = caller.startsWith('cli:') ? caller : `${callerName} (${caller})`;
  const more = [partner && `partner ${partner}`, reason && `because ${reason}`, `from ${origin}`];
  return [at.toISOString(), who, action, object, more.filter(Boolean).join(', ')].join('\t');
}
