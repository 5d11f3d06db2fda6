import 'reflect-metadata';
import { DataSource } from 'typeorm';
import { orderResponse, topicFor } from '../../../../src/contracts';
import {
  adminAccount,
  createKafkaAdmin,
  createSecurityAdmin,
  type KafkaAdmin,
  type SecurityAdmin,
} from '../../../../src/messaging/kafka';
import { Onboarder, type PartnerFile, specOf } from '../../../../src/partners';
import {
  type Account,
  Accounts,
  Disabling,
  type IssuedAccount,
  Retirement,
  Rotation,
} from '../../../../src/partners/accounts';
import type { Config } from '../../../../src/platform/config';
import { Database } from '../../../../src/platform/database';
import type { Caller } from '../../../../src/staff';
import { testConfig } from '../../../support/config';
import { freshDatabase } from '../../../support/database';
import { asAdministrator, asParley, doorOf, type GuardedKafka, guardedKafka } from '../../../support/guarded-kafka';
import { type KafkaDoor, uniqueName } from '../../../support/kafka';

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
  kafkaAdmin: KafkaAdmin;
  clock: TestClock;
  accounts: Accounts;
  rotation: Rotation;
  retirement: Retirement;
  disabling: Disabling;
  close(): Promise<void>;
}

/** Accounts on a guarded broker and a database of its own. */
export async function startBench(kafka = guardedKafka()): Promise<Bench> {
  const url = await freshDatabase();
  // A group of its own: rights are given to it, and other specs use the same broker.
  const env = { ...asParley(kafka), ...asAdministrator(kafka), KAFKA_CONSUMER_GROUP: uniqueName('parley') };
  const config = testConfig(url, env);
  const dataSource = await new DataSource({ type: 'postgres', url, installExtensions: false }).initialize();
  const database = new Database(dataSource);
  const [security, kafkaAdmin] = [createSecurityAdmin(adminAccount(config)), createKafkaAdmin(adminAccount(config))];
  const clock = new TestClock();
  return {
    ...{ kafka, config, database, security, kafkaAdmin, clock },
    accounts: new Accounts(database),
    rotation: new Rotation(database, security, clock, config),
    retirement: new Retirement(database, security, clock),
    disabling: new Disabling(database, security, clock),
    close: async () => {
      await Promise.all([security.close(), kafkaAdmin.close()]);
      await dataSource.destroy();
    },
  };
}

/** An onboarded partner, whose id is its own, and its first account as it was told. */
export async function givePartner(bench: Bench, file: Partial<PartnerFile> = {}): Promise<GivenPartner> {
  const { database, config, security, kafkaAdmin, clock } = bench;
  const partner = file.partner ?? uniqueName('acme');
  const accounts = { username: config.kafkaSaslUsername, consumerGroup: config.kafkaConsumerGroup };
  const parts = { database, admin: kafkaAdmin, security, accounts, registry: undefined };
  const spec = specOf({ format: 'json', partitions: 1, ...file, partner }, config);
  const { account } = await new Onboarder(parts, clock).apply(spec, admin);
  if (!account) throw new Error(`${partner} has an account already`);
  return { partner, username: account.username, password: account.password ?? '' };
}

export interface GivenPartner {
  partner: string;
  username: string;
  password: string;
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
  return { ...issued, account, password: issued.password ?? '' };
}

/** The way in for an account of a partner. */
export const asAccount = (bench: Bench, { username, password }: { username: string; password: string }): KafkaDoor =>
  doorOf(bench.kafka, { username, password });

/** The topic on which a partner answers orders. */
export const answerTopic = (partner: string): string => topicFor(orderResponse, partner);

export const statesOf = async (bench: Bench, partner: string): Promise<Record<string, string>> =>
  Object.fromEntries((await bench.accounts.of(partner)).map(({ username, state }) => [username, state]));
