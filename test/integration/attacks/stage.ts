import 'reflect-metadata';
import type { Account } from '../../../scripts/servers/index.mjs';
import {
  despatchAdvice,
  despatchReceipt,
  errorReport,
  orderRequest,
  orderResponse,
  topicFor,
  typeOf,
} from '../../../src/contracts';
import type { PartnerFile } from '../../../src/partners';
import type { Config } from '../../../src/platform/config';
import { Database } from '../../../src/platform/database';
import { type Running, start } from '../../../src/start';
import { testConfig } from '../../support/config';
import { freshDatabase } from '../../support/database';
import { eventually } from '../../support/eventually';
import { asAdministrator, asParley, doorOf, type GuardedKafka, guardedKafka } from '../../support/guarded-kafka';
import {
  type KafkaDoor,
  produce,
  readAll,
  type RecordToProduce,
  type StoredRecord,
  uniqueName,
} from '../../support/kafka';
import { onboard } from '../../support/partners';
import { giveKey, type TestKey } from '../../support/staff';
import { recordingLogger } from '../kafka/fixtures';
import { type Answer, send } from '../orders/orders-app';

/** A partner as onboarding leaves it: its topics, and its way in. */
export interface Onboarded {
  id: string;
  account: Account;
  door: KafkaDoor;
  topics: { requests: string; responses: string; advices: string; receipts: string; errors: string };
}

export interface PlacedOrder {
  orderNumber: string;
  correlationId: string;
}

/** The whole program under its own account at a guarded broker, which onboarding alone has told who may do what. */
export interface Stage {
  kafka: GuardedKafka;
  config: Config;
  running: Running;
  database: Database;
  /** What it logged. */
  lines: Record<string, unknown>[];
  administrator: KafkaDoor;
  onboard(stem: string, file?: Partial<PartnerFile>): Promise<Onboarded>;
  ask(method: 'GET' | 'POST', path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Resolves when the request lies on the partner's topic. */
  place(partner: Onboarded): Promise<PlacedOrder>;
  stateOf(order: PlacedOrder): Promise<string>;
  /** `[code, state]` of what is parked of the partner, oldest first. */
  parked(partner: Onboarded): Promise<(string | null)[][]>;
  close(): Promise<void>;
}

/** @param kafka another than the run's, for a partner whose id can't be made unique */
export async function openStage(env: NodeJS.ProcessEnv = {}, kafka: GuardedKafka = guardedKafka()): Promise<Stage> {
  const group = { KAFKA_CONSUMER_GROUP: uniqueName('parley') };
  const url = await freshDatabase();
  const config = testConfig(url, { ...asParley(kafka), ...group, ...env });
  const { logger, lines } = recordingLogger();
  const running = await start(config, logger);
  await running.started;
  const database = running.app.get(Database);
  const key: TestKey = await giveKey(database);
  const asAdmin = testConfig(url, { ...asParley(kafka), ...asAdministrator(kafka), ...group });
  const administrator = doorOf(kafka, kafka.admin);
  const ask: Stage['ask'] = (method, path, body, headers) =>
    send({ app: running.app, key }, method, path, body, headers);
  const stateOf = async ({ orderNumber }: PlacedOrder) =>
    (await ask('GET', `/v1/orders/${orderNumber}`)).json['state'] as string;
  return {
    ...{ kafka, config, running, database, lines, administrator, ask, stateOf },
    onboard: async (stem, file) => {
      const partner = uniqueName(stem);
      const { account } = await onboard(database, asAdmin, { partner, format: 'json', partitions: 1, ...file });
      if (!account?.password) throw new Error(`${partner} has no account`);
      const login = { username: account.username, password: account.password };
      return { id: partner, account: login, door: doorOf(kafka, login), topics: topicsOf(partner) };
    },
    place: async ({ id, topics }) => {
      const lines = [{ lineNumber: 1, item: 'A-1', quantity: '2', unit: 'C62', unitPrice: '9.99' }];
      const order = { partner: id, currency: 'EUR', lines };
      const { json, status, body } = await ask('POST', '/v1/orders', order, { 'idempotency-key': uniqueName('key') });
      if (status !== 201) throw new Error(body);
      const orderNumber = json['orderNumber'] as string;
      const request = await eventually(
        async () => (await readAll(topics.requests, administrator)).find(({ key }) => String(key) === orderNumber),
        { interval: 200, what: `${orderNumber} is on ${topics.requests}` },
      );
      return { orderNumber, correlationId: headerOf(request, 'ce_correlationid') ?? '' };
    },
    parked: async ({ id }) => {
      const rows = await database.query<{ code: string | null; state: string }>(
        'SELECT code, state FROM parked_inbound WHERE partner = :id ORDER BY id',
        { id },
      );
      return rows.map(({ code, state }) => [code, state]);
    },
    close: async () => {
      await running.lifecycle.stop('test');
      await running.app.close();
    },
  };
}

const topicsOf = (partner: string): Onboarded['topics'] => ({
  requests: topicFor(orderRequest, partner),
  responses: topicFor(orderResponse, partner),
  advices: topicFor(despatchAdvice, partner),
  receipts: topicFor(despatchReceipt, partner),
  errors: topicFor(errorReport, partner),
});

export const headerOf = ({ headers }: StoredRecord, name: string): string | undefined => headers[name]?.toString();

/** An acceptance as a partner writes it. */
export function acceptance(
  { orderNumber, correlationId }: PlacedOrder,
  headers: RecordToProduce['headers'] = {},
): RecordToProduce & { headers: Record<string, string | Buffer> } {
  return {
    key: orderNumber,
    value: JSON.stringify({ orderNumber, responseCode: 'AP', issuedAt: '2026-03-01T10:00:00Z' }),
    headers: {
      ...{ ce_specversion: '1.0', ce_id: uniqueName('id'), ce_source: '/partner', ce_type: typeOf(orderResponse) },
      ...{ ce_correlationid: correlationId, ...headers },
    },
  };
}

/** Writes under the partner's own account. */
export const answer = ({ topics, door }: Onboarded, ...records: RecordToProduce[]): Promise<void> =>
  produce(topics.responses, records, door);
