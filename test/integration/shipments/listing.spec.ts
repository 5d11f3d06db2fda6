import type { OpenAPIObject } from '@nestjs/swagger';
import { PROBLEM_CODES } from '../../../src/platform/http';
import { giveKey } from '../../support/staff';
import { send } from '../orders/orders-app';
import { accepted, adviceRecord, deliver, goods, type ShipmentsApp, startShipments } from './shipments-app';

describe('GET /v1/orders/{orderNumber}/shipments', () => {
  let shipments: ShipmentsApp;
  let orderNumber: string;
  let path: string;

  beforeAll(async () => {
    shipments = await startShipments();
    const consumer = shipments.consumer();
    orderNumber = await accepted(shipments, consumer);
    path = `/v1/orders/${orderNumber}/shipments`;
    const parts = ['1', '13', '2', '3'].map((quantity, index) =>
      adviceRecord({ orderNumber, despatchNumber: `D-${index}`, lines: goods(quantity), carrier: 'Parcel Ltd' }),
    );
    await deliver(consumer, ...parts);
  });
  afterAll(() => shipments.close());

  const numbers = (json: Record<string, unknown>) =>
    (json['items'] as { despatchNumber: string }[]).map(({ despatchNumber }) => despatchNumber);

  it('lists what was recorded, in the order of the history, without what was refused', async () => {
    const { status, json } = await send(shipments, 'GET', path);
    expect([status, numbers(json), json['nextCursor']]).toEqual([200, ['D-0', 'D-2', 'D-3'], null]);
    const [first] = json['items'] as Record<string, unknown>[];
    expect(first).toEqual({
      ...{ despatchNumber: 'D-0', issuedAt: '2026-02-04T08:00:00.000Z', carrier: 'Parcel Ltd', trackingNumber: null },
      ...{ grossWeightGrams: null, lines: [{ lineNumber: 1, quantity: '1' }], driver: null, orderVersion: 3 },
      ...{ messageId: expect.stringMatching(/^advice-/) as string, recordedAt: expect.any(String) as string },
    });
  });

  it('is empty where nothing was despatched yet', async () => {
    const other = await accepted(shipments, shipments.consumer());
    expect((await send(shipments, 'GET', `/v1/orders/${other}/shipments`)).json).toEqual({
      items: [],
      nextCursor: null,
    });
  });

  it('leads on page by page', async () => {
    const first = await send(shipments, 'GET', `${path}?limit=2`);
    expect(numbers(first.json)).toEqual(['D-0', 'D-2']);
    const [, next] = /^<(.+)>; rel="next"$/.exec(String(first.headers['link'])) ?? [];
    expect(next).toContain(`cursor=${String(first.json['nextCursor'])}`);
    const second = await send(shipments, 'GET', String(next));
    expect([numbers(second.json), second.json['nextCursor'], second.headers['link']]).toEqual([
      ['D-3'],
      null,
      undefined,
    ]);
  });

  it('is unknown to a key that is confined to another partner', async () => {
    const ask = async (partners: string[]) => {
      const { headers } = await giveKey(shipments.database, { role: 'viewer', areas: ['shipments'], partners });
      const { status, json } = await send(shipments, 'GET', path, undefined, { ...headers });
      return [status, json['code']];
    };
    expect(await ask(['acme'])).toEqual([200, undefined]);
    expect(await ask(['umbra'])).toEqual([404, 'order-unknown']);
  });

  it.each([
    ['/v1/orders/none/shipments', 404, 'order-unknown'],
    ['/v1/orders/a%00b/shipments', 404, 'order-unknown'],
    ['?limit=0', 400, 'request-invalid'],
    ['?limit=201', 400, 'request-invalid'],
    ['?limit=many', 400, 'request-invalid'],
    ['?sort=carrier', 400, 'request-invalid'],
    ['?cursor=%20', 400, 'request-invalid'],
    ['?cursor=WyIyMDI2Il0', 400, 'cursor-invalid'],
  ])('refuses %s with %i %s', async (query, status, code) => {
    const answer = await send(shipments, 'GET', query.startsWith('/') ? query : path + query);
    expect([answer.status, answer.json['code']]).toEqual([status, code]);
    expect(answer.headers['content-type']).toContain('application/problem+json');
  });

  it('is described, with an example for every member and a page for every problem', async () => {
    const { json } = await send(shipments, 'GET', '/docs/openapi.json');
    const document = json as unknown as OpenAPIObject;
    const operation = document.paths['/v1/orders/{orderNumber}/shipments']?.get;
    expect(operation).toMatchObject({ operationId: 'listShipments', tags: ['shipments'] });
    expect(Object.keys(operation?.responses ?? {})).toEqual(['200', '400', '401', '403', '404', '429', '500', '503']);
    for (const parameter of operation?.parameters ?? []) expect(JSON.stringify(parameter)).toContain('"example"');
    for (const name of ['ShipmentDto', 'ShipmentLineDto']) {
      const properties = (document.components?.schemas?.[name] as { properties: Record<string, object> }).properties;
      for (const [member, property] of Object.entries(properties)) {
        expect([name, member, 'example' in property || 'items' in property]).toEqual([name, member, true]);
      }
    }
    for (const code of ['order-unknown', 'cursor-invalid', 'request-invalid'])
      expect(PROBLEM_CODES[code]).toBeDefined();
  });
});
