import { Command, InvalidArgumentError, Option } from 'commander';
import { REGISTERED_FORMATS, type RegisteredFormat } from '../contracts';
import { ChannelCatalog, type SchemaInUse, SchemaUse } from '../messaging/channels';
import {
  differencesOf,
  type Finding,
  inWords,
  planOf,
  publish,
  type PublishOutcome,
  type Subject,
  subjectsAsPlanned,
  subjectsOf,
  survey,
} from '../messaging/evolution';
import { createSchemaRegistry, RegistryUnavailable, type SchemaRegistry } from '../messaging/registry';
import { systemClock } from '../platform/clock';
import { type Config, loadConfig } from '../platform/config';
import type { Database } from '../platform/database';
import { AppError } from '../platform/errors';
import { audit } from '../staff';
import { breakLines, jsonOf, outcomeLine, stepLine, summaryOf } from './contracts.report';
import { confirmed, isTerminal } from './confirm';
import { withDatabase } from './context';
import { hint, print } from './output';
import { staffCaller } from './staff-caller';

interface Scope {
  partner?: string[];
  format?: RegisteredFormat;
  json: boolean;
}

const EXAMPLES = `
Examples:
  parley contracts check
  parley contracts check --partner acme --format avro      no database needed: its topics as they would be
  parley contracts diff
  parley contracts publish --plan
  parley contracts publish --yes
`;

export function contractsCommand(): Command {
  const contracts = new Command('contracts')
    .description('What may change in our documents: compare schemas with the registered ones, and publish them.')
    .addHelpText('beforeAll', EXAMPLES);
  scoped(contracts.command('check'))
    .description(
      'Compare our schemas with every registered version and with what partners still use. Exit 1 on any break, each with partner, subject, version, member and rule.',
    )
    .option('--published', 'a schema that is not registered as it stands here is a failure, too', false)
    .action(check);
  scoped(contracts.command('diff'))
    .description('Say in words what publishing would change, and what it means to whom.')
    .action(diff);
  scoped(contracts.command('publish'))
    .description(
      'Register our schemas: nothing at all when one breaks a registered one. Again changes nothing. Exit 3 when some failed, 4 when others registered meanwhile: run it again.',
    )
    .option('--plan', 'only say what would be registered', false)
    .addOption(new Option('--dry-run', 'the same as --plan').implies({ plan: true }))
    .option('--yes', 'do not ask', false)
    .action(publishAll);
  return contracts;
}

function scoped(command: Command): Command {
  const collect = (partner: string, others: string[] = []) => [...others, partner];
  const format = (raw: string): RegisteredFormat => {
    const known = REGISTERED_FORMATS.find((name) => name === raw);
    if (!known) throw new InvalidArgumentError(`one of ${REGISTERED_FORMATS.join(', ')}`);
    return known;
  };
  return command
    .option('--partner <id>', 'of this partner only; may be repeated', collect)
    .option('--format <format>', 'with --partner: topics as they would be in this format, without a database', format)
    .option('--json', 'machine-readable result', false);
}

async function check(options: Scope & { published: boolean }, command: Command): Promise<void> {
  await withFindings(options, command, async (findings) => {
    const broken = findings.some(({ breaks }) => breaks.length > 0);
    const missing = findings.filter(({ published }) => !published);
    print(options.json, findings.map(jsonOf), [...findings.flatMap(breakLines), summaryOf(findings)]);
    if (missing.length > 0) {
      for (const { subject, versions } of missing)
        hint(`${subject.name}: ${versions.length === 0 ? 'not published yet' : 'changed since it was published'}`);
      if (!broken) hint('Next: parley contracts publish');
    }
    if (broken || (options.published && missing.length > 0)) process.exitCode = 1;
  });
}

async function diff(options: Scope, command: Command): Promise<void> {
  await withFindings(options, command, async (findings) => {
    const differences = differencesOf(findings);
    const nothing = ['Nothing differs from what is published.'];
    print(options.json, differences, differences.length === 0 ? nothing : differences.map(inWords));
  });
}

async function publishAll(options: Scope & { plan: boolean; yes: boolean }, command: Command): Promise<void> {
  await withFindings(options, command, async (findings, registry, database) => {
    for (const line of findings.flatMap(breakLines)) hint(line);
    const plan = planOf(findings);
    const coming = plan.filter(({ action }) => action !== 'unchanged').length;
    if (options.plan) {
      const steps = plan.map(({ subject, action }) => ({ subject: subject.name, action }));
      return print(options.json, steps, [...plan.map(stepLine), `${coming} would be registered.`]);
    }
    for (const step of plan) hint(stepLine(step));
    if (coming > 0 && !options.yes) {
      if (!isTerminal()) command.error('Nothing is registered: without a terminal to ask on, say --yes.');
      if (!(await confirmed(`Register ${coming} schemas?`)))
        throw new AppError('not-confirmed', 'Nothing is registered.');
    }
    const outcomes = await publish(registry, plan);
    const rows = outcomes.map(({ subject, result, id, version, reason }) => ({
      subject: subject.name,
      result,
      id,
      version,
      reason,
    }));
    print(options.json, rows, outcomes.map(outcomeLine));
    process.exitCode = exitCodeOf(outcomes.map(({ result }) => result));
    // What was registered has been said by now, whatever becomes of this.
    if (database) await remember(database, outcomes);
  });
}

/** Who changed what partners' schemas say. Without a database (`--format`) there is no audit to write to. */
async function remember(database: Database, outcomes: readonly PublishOutcome[]): Promise<void> {
  const subjects = outcomes.filter(({ result }) => result === 'registered').map(({ subject }) => subject.name);
  if (subjects.length === 0) return;
  await database.transaction((tx) =>
    audit(
      tx,
      { by: staffCaller(), action: 'contracts.publish', object: 'contracts', detail: { subjects } },
      systemClock.now(),
    ),
  );
}

/** 0 all done · 1 nothing was · 3 some were · 4 nothing failed, and others registered meanwhile. */
function exitCodeOf(results: readonly string[]): number {
  if (results.some((result) => result === 'failed' || result === 'not-tried'))
    return results.includes('registered') ? 3 : 1;
  return results.includes('plan-changed') ? 4 : 0;
}

/** Compares what the options speak of, and hands it on while the registry's client is open. */
async function withFindings(
  options: Scope,
  command: Command,
  work: (findings: Finding[], registry: SchemaRegistry, database?: Database) => Promise<void>,
): Promise<void> {
  const { partner = [], format } = options;
  if (format === undefined) {
    return withDatabase(async (database, config) => {
      const catalog = new ChannelCatalog(database);
      await catalog.load();
      const channels = catalog.all().filter((channel) => partner.length === 0 || partner.includes(channel.partner));
      const unknown = partner.find((id) => !channels.some((channel) => channel.partner === id));
      if (unknown !== undefined)
        throw new AppError('partner-unknown', `There is no partner ${unknown}.`, {
          hint: 'See "parley partner list"; with --format the topics are taken as they would be.',
        });
      await compare(
        config,
        { subjects: subjectsOf(channels), uses: await SchemaUse.list(database), json: options.json },
        (findings, registry) => work(findings, registry, database),
      );
    });
  }
  if (partner.length === 0) command.error(`--format needs --partner, for example: --partner acme --format ${format}`);
  // Only the registry's keys are used; the rest need not be there.
  const unused = { DATABASE_URL: 'postgres://unused/unused', KAFKA_BROKERS: 'unused:1' };
  const planned = { subjects: subjectsAsPlanned(partner, format), uses: [], json: options.json };
  await compare(loadConfig({ ...unused, ...process.env }), planned, work);
}

async function compare(
  config: Config,
  { subjects, uses, json }: { subjects: readonly Subject[]; uses: readonly SchemaInUse[]; json: boolean },
  work: (findings: Finding[], registry: SchemaRegistry) => Promise<void>,
): Promise<void> {
  if (subjects.length === 0) {
    hint('No channel speaks a format that has a registry: there is nothing to compare.');
    return print(json, [], []);
  }
  const registry = createSchemaRegistry(config);
  try {
    await work(await survey(registry, subjects, uses), registry);
  } catch (error) {
    if (!(error instanceof RegistryUnavailable) || error.hint !== undefined) throw error;
    throw new RegistryUnavailable(error.message, {
      cause: error.cause,
      hint: 'Check SCHEMA_REGISTRY_URLS and that the registry runs, then run it again; nothing was changed.',
    });
  } finally {
    await registry.close();
  }
}
