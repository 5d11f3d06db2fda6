import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DataSource } from 'typeorm';
import { MIGRATIONS } from '../../../migrations';
import type * as Servers from '../../../scripts/servers/index.mjs' with { 'resolution-mode': 'import' };
import type { Format } from '../../contracts';
import { specOf, withOnboarder } from '../../partners';
import { systemClock } from '../../platform/clock';
import { type Config, loadConfig } from '../../platform/config';
import { Database, dataSourceOptions, migrate } from '../../platform/database';
import { AppError } from '../../platform/errors';
import type { Access, Account, CertifyPlace } from '../../simulator';
import { hint } from '../output';
import { staffCaller } from '../staff-caller';
import { publishLater } from './later-schema';

/** A broker behind TLS, accounts and rights with one partner onboarded, and a registry with its schemas. */
export interface SandboxPlace extends CertifyPlace {
  partnerAccount: Account;
  /** What the partner's system needs to come in, one a line. */
  settings: readonly string[];
}

/** Starts it for the work, and stops it behind that. */
export async function withSandbox<T>(
  { partner, format }: { partner: string; format: Format },
  work: (place: SandboxPlace) => Promise<T>,
): Promise<T> {
  const { startKafka, startRegistry, startPostgres } = await servers();
  const running: { stop: () => Promise<void> }[] = [];
  const kept = <S extends { stop: () => Promise<void> }>(server: S): S => {
    running.push(server);
    return server;
  };
  try {
    const parley = { username: 'parley', password: randomBytes(24).toString('base64url') };
    const kafka = kept(await startKafka({ secure: true, accounts: [parley], report: hint }));
    const registry = kept(await startRegistry({ report: hint }));
    const postgres = kept(await startPostgres());
    await postgres.createDatabase('sandbox');
    const config = configOf(kafka, parley, registry.url, postgres.url('sandbox'));
    const account = await onboarded(config, { partner, format });
    const reached = { brokers: [kafka.brokers], tls: { ca: kafka.caFile }, registry: config };
    const access: Access = { ...reached, account: accountOf(parley) };
    if (format === 'avro') await publishLater(access, partner);
    return await work({
      ...{ access, format, partnerAccount: accountOf(account) },
      sandbox: { restartBroker: () => kafka.restart() },
      settings: settingsOf(kafka, account, registry.url, partner, format),
    });
  } finally {
    await Promise.all(running.map((server) => server.stop()));
  }
}

const accountOf = (credentials: Servers.Account): Account => ({
  mechanism: 'SCRAM-SHA-512',
  credentials: () => credentials,
});

/** They stand beside the program where it is a working copy; the image has none. */
async function servers(): Promise<typeof Servers> {
  for (let folder = __dirname; dirname(folder) !== folder; folder = dirname(folder)) {
    const file = join(folder, 'scripts', 'servers', 'index.mjs');
    if (existsSync(file)) return (await import(pathToFileURL(file).href)) as typeof Servers;
  }
  throw new AppError(
    'sandbox-unavailable',
    'A sandbox needs the servers of a working copy, and this installation has none.',
    {
      hint: 'Run it in a working copy of Parley, or certify at a broker that is there.',
    },
  );
}

function configOf(
  kafka: Servers.SecureKafka,
  parley: Servers.Account,
  registryUrl: string,
  databaseUrl: string,
): Config {
  return loadConfig({
    DATABASE_URL: databaseUrl,
    KAFKA_BROKERS: kafka.brokers,
    KAFKA_SSL: 'true',
    KAFKA_CA_FILE: kafka.caFile,
    KAFKA_SASL_MECHANISM: 'scram-sha-512',
    KAFKA_SASL_USERNAME: parley.username,
    KAFKA_SASL_PASSWORD: parley.password,
    KAFKA_ADMIN_USERNAME: kafka.admin.username,
    KAFKA_ADMIN_PASSWORD: kafka.admin.password,
    KAFKA_REPLICATION_FACTOR: '1',
    SCHEMA_REGISTRY_URLS: registryUrl,
  });
}

/** As any partner is: the same topics, rights, limits and schemas. */
async function onboarded(config: Config, file: { partner: string; format: Format }): Promise<Servers.Account> {
  const dataSource = new DataSource(dataSourceOptions(config, { entities: [], migrations: MIGRATIONS }));
  await dataSource.initialize();
  try {
    await migrate(dataSource);
    const database = new Database(dataSource);
    const { account } = await withOnboarder({ database, config, clock: systemClock }, (onboarder) =>
      onboarder.apply(specOf(file, config), staffCaller()),
    );
    if (account?.password === undefined) throw new AppError('sandbox-incomplete', 'The sandbox gave no account.');
    return { username: account.username, password: account.password };
  } finally {
    await dataSource.destroy();
  }
}

const settingsOf = (
  kafka: Servers.SecureKafka,
  { username, password }: Servers.Account,
  registryUrl: string,
  partner: string,
  format: Format,
): string[] => [
  `bootstrap.servers = ${kafka.brokers}`,
  'security.protocol = SASL_SSL',
  'sasl.mechanism = SCRAM-SHA-512',
  `CA certificate = ${kafka.caFile}`,
  `username = ${username}`,
  `password = ${password}`,
  `group.id begins with partner.${partner}.`,
  'auto.offset.reset = earliest',
  ...(format === 'json' ? [] : [`schema.registry.url = ${registryUrl}`]),
];
