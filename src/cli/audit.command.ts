import { Command, Option } from 'commander';
import { AuditLog, type AuditRecord, type Role, ROLES } from '../staff';
import { withDatabase } from './context';
import { examples, instant, partnerId, withJson, withLimit } from './options';
import { hint, print } from './output';
import { staffCaller } from './staff-caller';

interface AuditOptions {
  caller?: string;
  action?: string;
  object?: string;
  partner?: string;
  role?: Role;
  since?: string;
  limit: number;
  json: boolean;
}

export function auditCommand(): Command {
  const command = withJson(withLimit(new Command('audit')))
    .description('What staff did, newest first; entries are never changed or deleted.')
    .option('--caller <id>', 'only what this key or user did: key_9f86d081884c, cli:parley')
    .option('--action <name>', 'only this action: api-key.create')
    .option('--object <name>', 'only what was done to this: api-key/key_9f86d081884c')
    .option('--partner <id>', 'only what concerns this partner', partnerId)
    .addOption(new Option('--role <role>', 'only what callers of this role did').choices(ROLES))
    .option('--since <time>', 'only at or after: 7d, 12h, 30m ago, or a time', instant)
    .action(list);
  return examples(command, 'parley audit --since 7d --partner acme', 'parley audit --object api-key/key_9f86d081884c');
}

async function list({ since, limit, json, ...where }: AuditOptions): Promise<void> {
  await withDatabase(async (database) => {
    const filter = { ...where, since: since === undefined ? undefined : new Date(since) };
    const { items, nextCursor } = await new AuditLog(database).page(staffCaller(), filter, limit);
    print(json, items, items.map(lineOf));
    if (json) return;
    if (items.length === 0) hint('Nothing found.');
    if (nextCursor !== null) hint(`There are more: --limit shows up to 9999, and ${items.length} are shown.`);
  });
}

function lineOf({
  at,
  caller,
  callerName,
  role,
  action,
  object,
  partner,
  reason,
  detail,
  origin,
}: AuditRecord): string {
  const who = caller.startsWith('cli:') ? caller : `${callerName} (${caller}, ${role})`;
  const more = [
    partner && `partner ${partner}`,
    reason && `because ${reason}`,
    `from ${origin}`,
    detail && JSON.stringify(detail),
  ];
  return [at.toISOString(), who, action, object, more.filter(Boolean).join(', ')].join('\t');
}
