import 'reflect-metadata';
import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { startPostgres } from '../../scripts/servers/index.mjs';
import { migrateDatabase } from './database';
import { type GuardedKafka, NEVER_KILLED, startGuardedKafka } from './guarded-kafka';

declare global {
  /** What the run has to undo, newest last. */
  var __afterRun: (() => Promise<void>)[] | undefined;
}

/**
 * One PostgreSQL and one Kafka broker for the whole run; servers named in TEST_PG_URL (ends with "/"), TEST_KAFKA_BROKERS
 * and TEST_KAFKA_GUARDED are used instead. Each spec file takes a copy of the migrated template database. The broker has a
 * guarded listener, for programs as an installation runs them, and an open one, for tests of what lies behind it.
 */
export default async function globalSetup(): Promise<void> {
  globalThis.__afterRun = [];
  const started = await Promise.allSettled([database(globalThis.__afterRun), broker(globalThis.__afterRun)]);
  const failed = started.find((result) => result.status === 'rejected');
  if (!failed) return;
  // Jest calls no teardown after a failed setup.
  for (const undo of globalThis.__afterRun.toReversed()) await undo().catch(() => undefined);
  throw failed.reason;
}

async function database(undo: (() => Promise<void>)[]): Promise<void> {
  const run = randomBytes(4).toString('hex');
  const template = `parley_template_${run}`;
  const given = process.env['TEST_PG_URL'];
  const base = given ?? (await ownPostgres(undo));
  if (given) undo.push(() => dropDatabases(base, run));
  await execute(base, `CREATE DATABASE ${template}`);
  await migrateDatabase(`${base}${template}`);
  process.env['TEST_PG_URL'] = base;
  process.env['TEST_PG_RUN'] = run;
}

async function ownPostgres(undo: (() => Promise<void>)[]): Promise<string> {
  const postgres = await startPostgres();
  undo.push(() => postgres.stop());
  return postgres.url('');
}

async function broker(undo: (() => Promise<void>)[]): Promise<void> {
  if (process.env['TEST_KAFKA_BROKERS'] && process.env['TEST_KAFKA_GUARDED']) return;
  const kafka = await startGuardedKafka({ open: true, extraProperties: NEVER_KILLED });
  undo.push(() => kafka.stop());
  const { brokers, caFile, admin, parley } = kafka;
  process.env['TEST_KAFKA_BROKERS'] ??= kafka.openBrokers;
  process.env['TEST_KAFKA_GUARDED'] = JSON.stringify({ brokers, caFile, admin, parley } satisfies GuardedKafka);
}

async function dropDatabases(base: string, run: string): Promise<void> {
  const names = await execute(base, `SELECT datname FROM pg_database WHERE datname LIKE '%\\_${run}%'`);
  for (const { datname } of names) await execute(base, `DROP DATABASE IF EXISTS "${datname}" WITH (FORCE)`);
}

async function execute(base: string, sql: string): Promise<{ datname: string }[]> {
  const client = new Client({ connectionString: `${base}postgres` });
  await client.connect();
  try {
    return (await client.query<{ datname: string }>(sql)).rows;
  } finally {
    await client.end();
  }
}
