import { Command } from 'commander';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ChannelCatalog } from '../../messaging/channels';
import { type KitInput, kitOf, zipOf } from '../../kit';
import { Accounts, Partners } from '../../partners';
import type { Config } from '../../platform/config';
import type { Database } from '../../platform/database';
import { AppError, messageOf } from '../../platform/errors';
import { withDatabase } from '../context';
import { examples, hostAndPort, partnerId, plainUrl, withJson } from '../options';
import { hint, print } from '../output';

/** What holds `package.json`, `dist` and `docker`; this file is `dist/src/cli/partner/kit.js`. */
const INSTALLATION = join(__dirname, '..', '..', '..', '..');

interface KitOptions {
  output: string;
  bootstrap?: string;
  registry?: string;
  ca?: string;
  json: boolean;
}

export function kitCommand(): Command {
  const command = new Command('kit')
    .argument('<id>', 'the partner', partnerId)
    .description(
      "What a partner's developer needs to be running in ten minutes, as one ZIP: description, schemas, fixtures, settings of clients, a sandbox and the simulated company. No secret is in it.",
    )
    .requiredOption('-o, --output <file>', 'the ZIP to write; one that is there is replaced')
    .option('--bootstrap <host:port>', 'where partners reach the brokers (default: a placeholder)', hostAndPort)
    .option('--registry <url>', 'where partners reach the schema registry (default: a placeholder)', plainUrl)
    .option(
      '--ca <file>',
      "PEM of the authority that signed the brokers' certificate (default: KAFKA_CA_FILE, else a public one)",
    );
  return examples(
    withJson(command).action(write),
    'parley partner kit acme -o acme-kit.zip --bootstrap kafka.example.com:9094',
    'parley partner kit acme -o acme-kit.zip --bootstrap kafka.example.com:9094 --registry https://registry.example.com --ca ca.pem',
  );
}

async function write(partner: string, options: KitOptions): Promise<void> {
  const { output, json } = options;
  const input = await withDatabase((database, config) => inputOf(database, config, partner, options));
  const files = await kitOf(input);
  await writeFile(output, await zipOf(files, `${partner}-kit`));
  print(json, { partner, file: output, account: input.account, files: [...files.keys()].sort() }, [
    `${output}: ${files.size} files for ${partner}, whose clients come in as ${input.account}`,
  ]);
  if (options.bootstrap === undefined) hint('Without --bootstrap a placeholder stands where the brokers are named.');
  const needsRegistry = input.channels.some(({ format }) => format !== 'json');
  if (needsRegistry && options.registry === undefined)
    hint('Without --registry a placeholder stands where the schema registry is named.');
}

async function inputOf(database: Database, config: Config, partner: string, options: KitOptions): Promise<KitInput> {
  const found = await new Partners(database).find(partner);
  if (!found)
    throw new AppError('partner-unknown', `There is no partner ${partner}.`, { hint: 'See "parley partner list".' });
  const catalog = new ChannelCatalog(database);
  await catalog.load();
  const ca = options.ca ?? (config.kafkaCaFile || undefined);
  return {
    ...{ partner, name: found.name },
    ...(await accountOf(database, partner)),
    channels: catalog.all().filter((channel) => channel.partner === partner),
    ...{ bootstrap: options.bootstrap, registryUrl: options.registry },
    authority: ca === undefined ? undefined : await authorityIn(ca),
    installation: INSTALLATION,
  };
}

async function accountOf(database: Database, partner: string): Promise<Pick<KitInput, 'account' | 'authentication'>> {
  const active = await new Accounts(database).active(partner);
  if (active) return { account: active.username, authentication: active.kind };
  hint(`${partner} has no account at the broker yet; the kit names ${partner}.1, as its first one will be called.`);
  return { account: `${partner}.1` };
}

async function authorityIn(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new AppError('kit-authority-unfit', `The CA certificate ${file} cannot be read.`, {
      cause: new Error(messageOf(error)),
      hint: 'Name one with --ca, or in KAFKA_CA_FILE.',
    });
  }
}
