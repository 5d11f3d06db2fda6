import type { OpenAPIObject } from '@nestjs/swagger';
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import {
  CONTRACTS,
  contractsFor,
  despatchAdvice,
  orderRequest,
  orderResponse,
  topicFor,
  typeOf,
} from '../../../src/contracts';
import { Database } from '../../../src/platform/database';
import { openApi } from '../../../src/platform/http';
import { type Role, ROLES } from '../../../src/staff';
import { type Running, start } from '../../../src/start';
import { testConfig } from '../../support/config';
import { freshDatabase } from '../../support/database';
import { createTopic, produce, uniqueName } from '../../support/kafka';
import { giveKey, type TestKey } from '../../support/staff';
import { addPartner, type Answer, send } from '../orders/orders-app';

/** The whole program against a real broker, with all that it writes to its log. */
export interface CrawledApp {
  running: Running;
  database: Database;
  description: OpenAPIObject;
  partner: string;
  keys: Record<Role, TestKey>;
  log(): string;
  ask(
    who: Role,
    operation: `${'GET' | 'POST'} ${string}`,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  /** An order that is written; its number and the exchange's id. */
  place(contact: object, lines?: number): Promise<{ orderNumber: string; correlationId: string }>;
  /** A record of the partner's; `document` may be text that is none. */
  despatch(orderNumber: string, document: unknown, headers?: Record<string, string>): Promise<void>;
  accept(order: { orderNumber: string; correlationId: string }): Promise<void>;
}

/** So much a request to the partner may hold: an order of many lines is then refused by the broker. */
const SMALL_TOPIC = '4000';

export async function startCrawled(env: NodeJS.ProcessEnv = {}): Promise<CrawledApp> {
  const lines: string[] = [];
  const logger = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) });
  const running = await start(
    testConfig(await freshDatabase(), { KAFKA_CONSUMER_GROUP: uniqueName('parley'), ...env }),
    logger,
  );
  await running.started;
  const database = running.app.get(Database);
  const partner = uniqueName('acme');
  const requests = topicFor(orderRequest, partner);
  const topics = new Set(contractsFor(CONTRACTS, partner).map((contract) => topicFor(contract, partner)));
  for (const topic of topics) {
    const small: Record<string, string> = topic === requests ? { 'max.message.bytes': SMALL_TOPIC } : {};
    await createTopic(topic, { exact: true, partitions: 4, config: small });
    await createTopic(`${topic}-dlt`, { exact: true, partitions: 4 });
  }
  await addPartner(database, partner, 'json');
  const keys = Object.fromEntries(
    await Promise.all(ROLES.map(async (role) => [role, await giveKey(database, { role, name: role })] as const)),
  ) as Record<Role, TestKey>;

  const ask: CrawledApp['ask'] = (who, operation, body, headers) => {
    const [method, url = ''] = operation.split(' ') as ['GET' | 'POST', string?];
    return send({ app: running.app, key: keys[who] }, method, url, body, headers);
  };
  const write = (topic: string, type: string, key: string, document: unknown, headers: Record<string, string>) => {
    const value = typeof document === 'string' ? document : JSON.stringify(document);
    const named = { ce_specversion: '1.0', ce_id: randomUUID(), ce_source: '/partner', ce_type: type };
    return produce(topic, [{ key, value, headers: { ...named, ce_correlationid: randomUUID(), ...headers } }]);
  };
  return {
    ...{ running, database, partner, keys, ask },
    description: openApi(running.app),
    log: () => lines.join(''),
    place: async (contact, count = 1) => {
      const order = {
        ...{ partner, currency: 'EUR', contact },
        lines: Array.from({ length: count }, (_, n) => ({
          ...{ lineNumber: n + 1, item: `A-${n}`, quantity: '2', unit: 'C62', unitPrice: '9.99' },
        })),
      };
      const placed = await ask('operator', 'POST /v1/orders', order, { 'idempotency-key': randomUUID() });
      if (placed.status !== 201) throw new Error(placed.body);
      const orderNumber = String(placed.json['orderNumber']);
      const { json } = await ask('viewer', `GET /v1/orders/${orderNumber}/exchanges`);
      const [exchange] = json['items'] as { correlationId: string }[];
      return { orderNumber, correlationId: exchange?.correlationId ?? '' };
    },
    despatch: (orderNumber, document, headers = {}) =>
      write(topicFor(despatchAdvice, partner), typeOf(despatchAdvice), orderNumber, document, headers),
    accept: ({ orderNumber, correlationId }) => {
      const answer = { orderNumber, responseCode: 'AP', issuedAt: '2026-03-01T10:00:00Z' };
      const headers = { ce_correlationid: correlationId };
      return write(topicFor(orderResponse, partner), typeOf(orderResponse), orderNumber, answer, headers);
    },
  };
}

/** Every GET of the API with every value that its parameters can have here. Throws for a parameter that nobody has a value of. */
export function getsOf({ paths }: OpenAPIObject, values: Readonly<Record<string, readonly string[]>>): string[] {
  return Object.entries(paths)
    .filter(([, item]) => item.get)
    .flatMap(([path]) => {
      const [, parameter] = /\{(\w+)\}/.exec(path) ?? [];
      if (parameter === undefined) return [path];
      const known = values[`${path.slice(0, path.indexOf('/{'))}/{${parameter}}`];
      if (!known?.length) throw new Error(`no value is known for ${path}: this test has to make one`);
      return known.map((value) => path.replace(`{${parameter}}`, encodeURIComponent(value)));
    });
}

/** What the parameters of operations can be here, by the path that ends with them. */
export async function valuesOf({ ask, partner }: CrawledApp): Promise<Record<string, string[]>> {
  const all = async (path: string, member: string): Promise<string[]> => {
    const { json } = await ask('admin', `GET ${path}`);
    return (json['items'] as Record<string, string>[]).map((item) => item[member] ?? '');
  };
  const parked = [...(await all('/v1/dead-letters?state=all&limit=200', 'id')), ...(await all('/v1/parked', 'id'))];
  return {
    '/v1/orders/{orderNumber}': await all('/v1/orders?limit=200', 'orderNumber'),
    '/v1/dead-letters/{id}': parked,
    '/v1/dead-letter-groups/{fingerprint}': await all('/v1/dead-letter-groups?state=all', 'fingerprint'),
    '/v1/replays/{id}': await all('/v1/replays', 'id'),
    '/v1/api-keys/{id}': await all('/v1/api-keys', 'id'),
    '/v1/partners/{id}': [partner],
    '/v1/notifications/{id}': await all('/v1/notifications?limit=200', 'id'),
    '/v1/notification-receivers/{id}': await all('/v1/notification-receivers', 'id'),
  };
}
