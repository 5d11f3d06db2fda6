import 'reflect-metadata';
import { DataSource } from 'typeorm';
import { orderResponse, topicFor } from '../../../../src/contracts';
import { addChannels } from '../../../../src/messaging/channels';
import { adminAccount, createSecurityAdmin, type SecurityAdmin } from '../../../../src/messaging/kafka';
import { Partners } from '../../../../src/partners';
import {
  type Account,
  AccountIssuer,
  Accounts,
  Disabling,
  type IssuedAccount,
  nextAccount,
  Retirement,
  Rotation,
} from '../../../../src/partners/accounts';
import { giveRights, rightsOfAccount } from '../../../../src/partners/onboarding/account-rights';
import { channelsOf, topicsOf } from '../../../../src/partners/onboarding/desired';
import { specOf, type PartnerFile } from '../../../../src/partners/onboarding/partner-spec';
import type { Config } from '../../../../src/platform/config';
import { Database, query } from '../../../../src/platform/database';
import type { Caller } from '../../../../src/staff';
import { testConfig } from '../../../support/config';
import { freshDatabase } from '../../../support/database';
import { asAdministrator, doorOf, type GuardedKafka, guardedKafka } from '../../../support/guarded-kafka';
import { createTopic, type KafkaDoor, uniqueName } from '../../../support/kafka';

export const DAY_MS = 86_400_000;
export const admin: Caller = {
  id: 'key_test',
  name: 'Ada',
  role: 'admin',
  areas: null,
  partners: null,
  origin: 'test',
};

/** A clock that stands where it is put. */
export class TestClock {
  constructor(private at = new Date('2026-03-01T10:00:00Z')) {}
  now = (): Date => this.at;
  pass(ms: number): void {
    this.at = new Date(this.at.getTime() + ms);
  }
}

export interface Bench {
  kafka: GuardedKafka;
  config: Config;
  database: Database;
  security: SecurityAdmin;
  clock: TestClock;
  accounts: Accounts;
  issuer: AccountIssuer;
  rotation: Rotation;
  retirement: Retirement;
  disabling: Disabling;
  close(): Promise<void>;
}

/** Accounts on a guarded broker and a database of its own. */
export async function startBench(kafka = guardedKafka()): Promise<Bench> {
  const url = await freshDatabase();
  const config = testConfig(url, asAdministrator(kafka));
  const dataSource = await new DataSource({ type: 'postgres', url, installExtensions: false }).initialize();
  const database = new Database(dataSource);
  const security = createSecurityAdmin(adminAccount(config));
  const clock = new TestClock();
  return {
    ...{ kafka, config, database, security, clock },
    accounts: new Accounts(database),
    issuer: new AccountIssuer(database, security, clock),
    rotation: new Rotation(database, security, clock),
    retirement: new Retirement(database, security, clock),
    disabling: new Disabling(database, security, clock),
    close: async () => {
      await security.close();
      await dataSource.destroy();
    },
  };
}

/** A partner as onboarding leaves it, but for its account; its id is its own. */
export async function givePartner(bench: Bench, file: Partial<PartnerFile> = {}): Promise<string> {
  const { database, kafka, config, clock } = bench;
  const partner = file.partner ?? uniqueName('acme');
  const spec = specOf({ format: 'json', partitions: 1, ...file, partner }, config);
  const channels = channelsOf(spec);
  const brokers = doorOf(kafka, kafka.admin);
  for (const { topic } of topicsOf(channels)) await createTopic(topic, { exact: true, brokers });
  await database.transaction(async (tx) => {
    await new Partners(database).add(tx, { id: partner, name: partner, createdAt: clock.now() });
    await addChannels(tx, channels, clock.now());
    await query(
      tx,
      'INSERT INTO partner_spec (partner, spec, applied_at, applied_by) VALUES (:partner, :spec, :now, :by)',
      { partner, spec: JSON.stringify(spec), now: clock.now(), by: 'test' },
    );
  });
  return partner;
}

/** Its first account, told. */
export async function giveAccount(bench: Bench, partner: string, days = 365): Promise<Account & { password: string }> {
  const { database, security, issuer, clock } = bench;
  const next = nextAccount(partner, []);
  const { password = '' } = await issuer.issue(next, admin);
  await giveRights(
    { database, security, now: clock.now() },
    next,
    await rightsOfAccount(database, partner, next.username),
  );
  const validUntil = new Date(clock.now().getTime() + days * DAY_MS);
  const account = await database.transaction((tx) => issuer.told(tx, next, { validUntil, replaces: null }, admin));
  return { ...account, password };
}

/** Rotates, and gives back what was told. */
export async function rotated(
  bench: Bench,
  request: Parameters<Rotation['rotate']>[0],
): Promise<IssuedAccount & { account: Account; password: string }> {
  const told: IssuedAccount[] = [];
  const account = await bench.rotation.rotate(request, admin, async (issued) => void told.push(issued));
  const [issued] = told;
  if (!issued) throw new Error('nothing was told');
  return { account, username: issued.username, password: issued.password ?? '' };
}

/** The way in for an account of a partner. */
export const asAccount = (bench: Bench, { username, password }: { username: string; password: string }): KafkaDoor =>
  doorOf(bench.kafka, { username, password });

/** The topic on which a partner answers orders. */
export const answerTopic = (partner: string): string => topicFor(orderResponse, partner);

export const statesOf = async (bench: Bench, partner: string): Promise<Record<string, string>> =>
  Object.fromEntries((await bench.accounts.of(partner)).map(({ username, state }) => [username, state]));
