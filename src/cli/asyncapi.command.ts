import { Argument, Command, Option } from 'commander';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { channelsInFormat, type DocumentedChannel, generatePartnerDocuments } from '../asyncapi';
import { CONTRACTS, contractsFor, type Format, FORMATS, topicFor } from '../contracts';
import { ChannelCatalog } from '../messaging/channels';
import { type Account, Accounts } from '../partners';
import type { Database } from '../platform/database';
import { withDatabase } from './context';
import { hostAndPort, partnerId, plainUrl } from './options';
import { hint, print } from './output';

interface Options {
  out: string;
  format?: Format;
  bootstrap?: string;
  registry?: string;
  json: boolean;
}

export function asyncapiCommand(): Command {
  return new Command('asyncapi')
    .description(
      "Write a partner's documentation: AsyncAPI and a page, of what Parley does and of what the partner implements.",
    )
    .addHelpText(
      'before',
      'Examples:\n  parley asyncapi acme --out documents --bootstrap kafka.example.com:9094\n  parley asyncapi acme --format avro --out documents\n',
    )
    .addArgument(new Argument('<partner>', 'id of the partner').argParser(partnerId))
    .requiredOption('--out <dir>', 'folder to write to; made if it is not there')
    .addOption(
      new Option('--format <format>', 'without a database: as if all of its channels had this format').choices(FORMATS),
    )
    .option('--bootstrap <host:port>', 'where partners reach the brokers (default: a placeholder)', hostAndPort)
    .option('--registry <url>', 'where partners reach the schema registry (default: not named)', plainUrl)
    .option('--json', 'machine-readable result', false)
    .action(write);
}

async function write(partner: string, options: Options): Promise<void> {
  const { channels, ...known } = options.format
    ? { channels: channelsInFormat(CONTRACTS, partner, options.format) }
    : await withDatabase((database) => storedOf(database, partner));
  const documents = generatePartnerDocuments({
    ...known,
    partner,
    contracts: CONTRACTS,
    channels,
    bootstrap: options.bootstrap,
    registryUrl: options.registry,
  });
  const topics = new Set(channels.map(({ topic }) => topic));
  for (const contract of contractsFor(CONTRACTS, partner)) {
    const topic = topicFor(contract, partner);
    if (!topics.has(topic)) hint(`${contract.name} is left out: ${partner} has no channel ${topic}.`);
  }
  await mkdir(options.out, { recursive: true });
  const files: string[] = [];
  for (const [name, content] of documents) {
    files.push(join(options.out, name));
    await writeFile(join(options.out, name), content);
  }
  print(options.json, { partner, files }, files);
}

/** The partner's channels, and what it comes in by where it has an account. */
async function storedOf(
  database: Database,
  partner: string,
): Promise<{ channels: DocumentedChannel[]; authentication?: Account['kind'] }> {
  const catalog = new ChannelCatalog(database);
  await catalog.load();
  const channels = catalog.all().filter((channel) => channel.partner === partner);
  const active = await new Accounts(database).active(partner);
  return { channels, ...(active ? { authentication: active.kind } : {}) };
}
