import { DataSource } from 'typeorm';
import {
  adminAccount,
  createKafkaAdmin,
  createSecurityAdmin,
  type KafkaAdmin,
  type SecurityAdmin,
} from '../../../../src/messaging/kafka';
import type { Applied, PartnerFile } from '../../../../src/partners';
import { Onboarder, specOf, viewOf } from '../../../../src/partners';
import { systemClock } from '../../../../src/platform/clock';
import type { Config } from '../../../../src/platform/config';
import { Database } from '../../../../src/platform/database';
import { testConfig } from '../../../support/config';
import { freshDatabase } from '../../../support/database';
import { asAdministrator, asParley, guardedKafka } from '../../../support/guarded-kafka';
import { uniqueName } from '../../../support/kafka';
import { ONBOARDER } from '../../../support/partners';

export type Wrap = <T extends KafkaAdmin | SecurityAdmin | Database>(door: T) => T;

/** A database and the guarded broker, as an administrator's command has them. */
export interface Room {
  database: Database;
  config: Config;
  admin: KafkaAdmin;
  security: SecurityAdmin;
  /** `wrap` stands between onboarding and the broker and the database. */
  onboarder(wrap?: Wrap): Onboarder;
  /** For what others make at the broker. */
  elsewhere(): Onboarder;
  apply(file: PartnerFile, allowDelete?: boolean): Promise<Applied>;
  /** The lines of its plan, `+ topic …` and `! topic …`. */
  planned(file: PartnerFile, allowDelete?: boolean): Promise<string[]>;
  close(): Promise<void>;
}

export async function openRoom(): Promise<Room> {
  const url = await freshDatabase();
  // A group of its own: rights are given to it, and other specs use the same broker.
  const kafka = guardedKafka();
  const env = { ...asParley(kafka), ...asAdministrator(kafka), KAFKA_CONSUMER_GROUP: uniqueName('parley') };
  const config = testConfig(url, env);
  const dataSource = await new DataSource({ type: 'postgres', url, installExtensions: false }).initialize();
  const database = new Database(dataSource);
  const [admin, security] = [createKafkaAdmin(adminAccount(config)), createSecurityAdmin(adminAccount(config))];
  const accounts = { username: config.kafkaSaslUsername, consumerGroup: config.kafkaConsumerGroup };
  const onboarder = (wrap: Wrap = (door) => door) =>
    new Onboarder(
      { database: wrap(database), admin: wrap(admin), security: wrap(security), accounts, registry: undefined },
      systemClock,
    );
  return {
    ...{ database, config, admin, security, onboarder },
    elsewhere: () =>
      new Onboarder(
        { database, admin, security: undefined, accounts, registry: undefined, elsewhere: true },
        systemClock,
      ),
    apply: (file, allowDelete = false) => onboarder().apply(specOf(file, config), ONBOARDER, { allowDelete }),
    planned: async (file, allowDelete = false) => {
      const { changes, notes } = viewOf(await onboarder().plan(specOf(file, config), { allowDelete }));
      return [
        ...changes.map(({ op, kind, detail }) => `${op} ${kind} ${detail}`),
        ...notes.map(({ kind, name, why }) => `! ${kind} ${name} ${why}`),
      ];
    },
    close: async () => {
      await Promise.all([admin.close(), security.close()]);
      await dataSource.destroy();
    },
  };
}

const WRITES = [
  ...['ensureTopics', 'putUser', 'deleteUser', 'addAcls', 'deleteAcls', 'putQuota', 'putTopicOptions', 'deleteTopics'],
  'transaction',
];

/** What onboarding does that changes something: at the broker, or a transaction. `half`: the first half of a list is done. */
export type Moment = `${string} ${'before' | 'half' | 'after'}`;

/** Hears each change, before and after it; what it throws is what onboarding meets, as if the process had died there. */
export const hearing =
  (hear: (moment: Moment) => void): Wrap =>
  (door) =>
    new Proxy(door, {
      get(target, name, receiver) {
        const value: unknown = Reflect.get(target, name, receiver);
        if (typeof value !== 'function') return value;
        const call = (value as (...values: unknown[]) => Promise<unknown>).bind(target);
        if (!WRITES.includes(String(name))) return call;
        return async (first: unknown, ...values: unknown[]) => {
          hear(`${String(name)} before`);
          if (Array.isArray(first) && first.length > 1) {
            await call(first.slice(0, Math.floor(first.length / 2)), ...values);
            hear(`${String(name)} half`);
          }
          const result = await call(first, ...values);
          hear(`${String(name)} after`);
          return result;
        };
      },
    });
