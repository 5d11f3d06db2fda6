import type { OpenAPIObject } from '@nestjs/swagger';
import { PROBLEM_CODES } from '../../../src/platform/http';
import { type OrdersApp, place, send, startOrders } from './orders-app';

interface Content {
  schema?: { $ref?: string };
  example?: unknown;
  examples?: Record<string, { value: { code: string; status: number } }>;
}
interface Operation {
  operationId?: string;
  summary?: string;
  parameters?: { name: string; example?: unknown; schema?: { example?: unknown } }[];
  responses: Record<string, { description: string; content?: Record<string, Content> }>;
}
interface Schema {
  properties?: Record<string, { example?: unknown; type?: string; items?: unknown; $ref?: string; allOf?: unknown }>;
}

describe('the API description', () => {
  let orders: OrdersApp;
  let document: OpenAPIObject;
  let operations: [string, Operation][];

  beforeAll(async () => {
    orders = await startOrders();
    document = (await send(orders, 'GET', '/docs/openapi.json')).json as unknown as OpenAPIObject;
    operations = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item as Record<string, Operation>).map(([method, operation]): [string, Operation] => [
        `${method} ${path}`,
        operation,
      ]),
    );
  });
  afterAll(() => orders.close());

  it('names every operation with a verb and a noun, once', () => {
    expect(operations.map(([name, { operationId }]) => [name, operationId]).sort()).toEqual([
      ['get /v1/api-keys', 'listApiKeys'],
      ['get /v1/api-keys/{id}', 'getApiKey'],
      ['get /v1/audit', 'listAuditEntries'],
      ['get /v1/orders', 'listOrders'],
      ['get /v1/orders/{orderNumber}', 'getOrder'],
      ['get /v1/orders/{orderNumber}/exchanges', 'listOrderExchanges'],
      ['get /v1/orders/{orderNumber}/timeline', 'getOrderTimeline'],
      ['post /v1/api-keys', 'createApiKey'],
      ['post /v1/api-keys/{id}/revocation', 'revokeApiKey'],
      ['post /v1/orders', 'placeOrder'],
      ['post /v1/orders/{orderNumber}/cancellation', 'cancelOrder'],
      ['post /v1/orders/{orderNumber}/exchanges/{correlationId}/withdrawal', 'withdrawExchange'],
      ['post /v1/orders/{orderNumber}/unmasking', 'unmaskOrder'],
    ]);
    for (const [, { summary }] of operations) expect(summary).toBeTruthy();
  });

  it('describes a success and the problems of every operation, all by one component', () => {
    for (const [name, { responses }] of operations) {
      expect([name, Object.keys(responses).some((status) => status.startsWith('2'))]).toEqual([name, true]);
      expect([name, Object.keys(responses)]).toEqual([name, expect.arrayContaining(['401', '403', '500', '503'])]);
      for (const [status, { description, content }] of Object.entries(responses).filter(([code]) =>
        /^[45]/.test(code),
      )) {
        const problem = content?.['application/problem+json'];
        expect(problem?.schema?.$ref).toBe('#/components/schemas/Problem');
        expect(description).toBeTruthy();
        for (const [code, { value }] of Object.entries(problem?.examples ?? {})) {
          expect([value.code, String(value.status), PROBLEM_CODES[code]?.status]).toEqual([
            code,
            status,
            Number(status),
          ]);
        }
        expect(Object.keys(problem?.examples ?? {}).length).toBeGreaterThan(0);
      }
    }
  });

  it('gives an example for every parameter and every plain member', () => {
    for (const [name, { parameters }] of operations) {
      for (const parameter of parameters ?? []) {
        expect([name, parameter.name, parameter.example ?? parameter.schema?.example]).not.toContain(undefined);
      }
    }
    const schemas = Object.entries(document.components?.schemas ?? {}) as [string, Schema][];
    const plain = schemas.flatMap(([schema, { properties }]) =>
      Object.entries(properties ?? {})
        .filter(([, property]) => !property.items && !property.$ref && !property.allOf)
        .filter(([, property]) => property.example === undefined && !/date-time/.test(JSON.stringify(property)))
        .map(([property]) => `${schema}.${property}`),
    );
    expect(plain).toEqual([]);
  });

  it('refers only to what it describes', () => {
    const refs = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name);
    expect(refs.length).toBeGreaterThan(0);
    for (const name of refs) expect(Object.keys(document.components?.schemas ?? {})).toContain(name);
  });

  it('has an example of an order that can be placed as it stands', async () => {
    const { PlaceOrderDto, OrderLineDto } = document.components?.schemas as Record<string, Required<Schema>>;
    const examples = (schema: Required<Schema> | undefined) =>
      Object.fromEntries(Object.entries(schema?.properties ?? {}).map(([name, { example }]) => [name, example]));
    expect((await place(orders, { ...examples(PlaceOrderDto), lines: [examples(OrderLineDto)] })).status).toBe(201);
  });

  it('has a page for every problem, where its type leads', async () => {
    for (const [code, { title }] of Object.entries(PROBLEM_CODES)) {
      const page = await send(orders, 'GET', `/docs/problems/${code}`);
      expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
      expect(page.body).toContain(title.replaceAll('"', '&#34;'));
    }
    expect((await send(orders, 'GET', '/docs/problems')).body).toContain('order-number-taken');
    expect((await send(orders, 'GET', '/docs/problems/nonsense')).status).toBe(404);
  });

  it('is shown at /docs, from files of our own only', async () => {
    const page = await send(orders, 'GET', '/docs');
    expect(page.status).toBe(200);
    expect((await send(orders, 'GET', '/docs/')).body).toBe(page.body);
    expect(page.headers['content-security-policy']).toContain("default-src 'self'");
    const links = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => String(link));
    expect(links.length).toBe(3);
    for (const link of links) expect((await send(orders, 'GET', link)).status).toBe(200);
  });

  it('sends what no browser should guess about with every answer', async () => {
    for (const path of ['/v1/orders', '/v1/orders/none', '/nowhere', '/docs']) {
      expect((await send(orders, 'GET', path)).headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
      });
    }
  });
});
