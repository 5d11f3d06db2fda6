import { Command, InvalidArgumentError, Option } from 'commander';
import { PARTNER_ID_PATTERN } from '../contracts';
import { systemClock } from '../platform/clock';
import type { Database } from '../platform/database';
import { type ApiKey, ApiKeys, type Area, AREAS, type Role, ROLES } from '../staff';
import { withDatabase } from './context';
import { hint, print } from './output';
import { duration } from './duration';
import { examples } from './options';
import { staffCaller } from './staff-caller';

const PRINTABLE = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]+$/u;
const PARTNER_ID = new RegExp(PARTNER_ID_PATTERN);

interface CreateOptions {
  name: string;
  role: Role;
  areas?: Area[];
  partners?: string[];
  expiresIn?: number;
  json: boolean;
}

const textUpTo =
  (most: number) =>
  (raw: string): string => {
    if (raw.length > most || !PRINTABLE.test(raw)) throw new InvalidArgumentError(`1 to ${most} printable characters`);
    return raw;
  };

const listOf =
  <T extends string>(fits: (one: string) => boolean, what: string) =>
  (raw: string): T[] => {
    const named = [...new Set(raw.split(','))];
    if (!named.every(fits)) throw new InvalidArgumentError(what);
    return named as T[];
  };

const areas = listOf<Area>((one) => AREAS.some((area) => area === one), `some of ${AREAS.join(',')}`);
const partners = listOf((one) => PARTNER_ID.test(one), 'partner ids such as acme,umbra');

export function keyCommand(): Command {
  const key = examples(
    new Command('key').description('API keys: who may ask Parley for what.'),
    'export PARLEY_API_KEY=$(parley key create --name me --role admin --expires-in 90d)',
    'parley key create --name erp --role operator --areas orders --partners acme',
    'parley key revoke key_9f86d081884c --reason "found in a log"',
  );
  key
    .command('create')
    .description('Make a key and print it, once: it is kept nowhere.')
    .requiredOption('--name <name>', 'what people call it', textUpTo(64))
    .addOption(new Option('--role <role>', 'each may what the one before it may').choices(ROLES).makeOptionMandatory())
    .option('--areas <list>', `confine it to areas of the API: ${AREAS.join(',')} (default: all)`, areas)
    .option('--partners <list>', 'confine it to partners (default: all)', partners)
    .option('--expires-in <time>', 'how long it lasts, such as 90d or 12h (default: for ever)', duration)
    .option('--json', 'machine-readable result', false)
    .action(create);
  key
    .command('list')
    .description('All keys, newest first; never their secrets.')
    .option('--json', 'machine-readable result', false)
    .action(list);
  key
    .command('revoke <id>')
    .description('End a key for good; within 5 seconds it opens nothing any more.')
    .option('--reason <text>', 'why; kept in the audit', textUpTo(500))
    .option('--json', 'machine-readable result', false)
    .action(revoke);
  return key;
}

async function create({ name, role, areas, partners, expiresIn, json }: CreateOptions): Promise<void> {
  await withDatabase(async (database) => {
    const { token, ...key } = await new ApiKeys(database, systemClock).create(staffCaller(), {
      ...{ name, role, areas: areas ?? null, partners: partners ?? null },
      expiresAt: expiresIn === undefined ? null : new Date(systemClock.now().getTime() + expiresIn),
    });
    print(json, { ...key, token }, [token]);
    if (json) return;
    hint(lineOf(key, systemClock.now()));
    for (const id of await strangers(database, partners))
      hint(`There is no partner ${id} yet: until there is, the key sees and does nothing of it.`);
    hint('The key is shown this once. Keep it in PARLEY_API_KEY or a secret store, never in a URL or an argument.');
  });
}

/** A misspelt id makes no error, since a key may come before its partner: its caller would find everything empty. */
async function strangers(database: Database, named: readonly string[] = []): Promise<string[]> {
  if (named.length === 0) return [];
  const { Partners } = await import('../partners/index.js');
  const known = new Set((await new Partners(database).list()).map(({ id }) => id));
  return named.filter((id) => !known.has(id));
}

async function list({ json }: { json: boolean }): Promise<void> {
  await withDatabase(async (database) => {
    const keys = new ApiKeys(database, systemClock);
    const found: ApiKey[] = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = await keys.page(staffCaller(), 200, cursor);
      found.push(...page.items);
      cursor = page.nextCursor;
    }
    print(
      json,
      found,
      found.map((key) => lineOf(key, systemClock.now())),
    );
    if (found.length === 0 && !json) hint('No keys yet: parley key create --name me --role admin');
  });
}

async function revoke(id: string, { reason, json }: { reason?: string; json: boolean }): Promise<void> {
  await withDatabase(async (database) => {
    const key = await new ApiKeys(database, systemClock).revoke(staffCaller(), id, reason);
    print(json, key, [`revoked ${id}`]);
    if (!json) hint('Running processes refuse it within 5 seconds.');
  });
}

function lineOf({ id, name, role, areas, partners, expiresAt, revokedAt, lastUsedAt }: ApiKey, now: Date): string {
  const ended = expiresAt && expiresAt <= now ? `expired ${expiresAt.toISOString()}` : undefined;
  const lasts = expiresAt ? `until ${expiresAt.toISOString()}` : 'for ever';
  return [
    ...[id, role, name, `areas ${areas?.join(',') ?? 'all'}`, `partners ${partners?.join(',') ?? 'all'}`],
    revokedAt ? `revoked ${revokedAt.toISOString()}` : (ended ?? lasts),
    `last used ${lastUsedAt?.toISOString() ?? 'never'}`,
  ].join('\t');
}
