import type { OpenAPIObject } from '@nestjs/swagger';
import { openApi, PROBLEM_CODES } from '../../../src/platform/http';
import { operationsOf } from '../../support/operations';
import { type RestApp, startRest } from './rest-app';

interface Member {
  example?: unknown;
  items?: unknown;
  $ref?: string;
  allOf?: unknown;
  format?: string;
}
interface Described {
  operationId: string;
  summary: string;
  tags: string[];
  parameters?: { name: string; example?: unknown; schema?: { example?: unknown } }[];
  responses: Record<string, { content?: Record<string, { examples?: Record<string, unknown> }> }>;
}

describe('the description of notifications over REST', () => {
  let rest: RestApp;
  let document: OpenAPIObject;
  let operations: ReturnType<typeof operationsOf>;

  beforeAll(async () => {
    rest = await startRest();
    document = openApi(rest.app);
    operations = operationsOf(document).filter(({ area }) => area === 'notifications');
  });
  afterAll(() => rest.close());

  const described = (operation: unknown) => operation as Described;

  it('names every operation with a verb and a noun, and the least role that may do it', () => {
    expect(
      operations.map(({ name, operation, least }) => [name, described(operation).operationId, least]).sort(),
    ).toEqual([
      ['DELETE /v1/notification-receivers/{id}', 'deleteNotificationReceiver', 'operator'],
      ['GET /v1/notification-providers', 'listNotificationProviders', 'viewer'],
      ['GET /v1/notification-receivers', 'listNotificationReceivers', 'viewer'],
      ['GET /v1/notification-receivers/{id}', 'getNotificationReceiver', 'viewer'],
      ['GET /v1/notifications', 'listNotifications', 'viewer'],
      ['GET /v1/notifications/{id}', 'getNotification', 'viewer'],
      ['POST /v1/notification-providers/{name}/retry', 'retryNotificationProvider', 'operator'],
      ['POST /v1/notification-receivers/{id}/test', 'testNotificationReceiver', 'operator'],
      ['POST /v1/notification-receivers/{id}/unmasking', 'unmaskNotificationReceiver', 'support'],
      ['POST /v1/notification-receivers/{id}/webhook-enabling', 'enableWebhook', 'operator'],
      ['POST /v1/notification-receivers/{id}/webhook-secret', 'rotateWebhookSecret', 'admin'],
      ['POST /v1/notifications/{id}/cancellation', 'cancelNotification', 'support'],
      ['POST /v1/notifications/{id}/resend', 'resendNotification', 'support'],
      ['POST /v1/notifications/{id}/resolution', 'resolveNotification', 'support'],
      ['POST /v1/notifications/{id}/unmarking', 'unmarkNotification', 'support'],
      ['POST /v1/notifications/{id}/unmasking', 'unmaskNotification', 'support'],
      ['PUT /v1/notification-receivers/{id}', 'putNotificationReceiver', 'operator'],
    ]);
    for (const { operation } of operations) {
      expect(described(operation).summary).toBeTruthy();
      expect(described(operation).tags).toEqual(['notifications']);
    }
  });

  it('gives an example for every parameter and every member, and a page for every problem', () => {
    for (const { name, operation } of operations) {
      for (const parameter of described(operation).parameters ?? [])
        expect([name, parameter.name, parameter.example ?? parameter.schema?.example]).not.toContain(undefined);
      for (const [status, { content }] of Object.entries(described(operation).responses)) {
        const codes = Object.keys(content?.['application/problem+json']?.examples ?? {});
        expect([name, status, codes.length > 0]).toEqual([name, status, status >= '400']);
        for (const code of codes)
          expect([name, code, PROBLEM_CODES[code]?.status]).toEqual([name, code, Number(status)]);
      }
    }
    const schemas = document.components?.schemas as Record<string, { properties?: Record<string, Member> }>;
    const bare = Object.entries(schemas).flatMap(([schema, { properties }]) =>
      Object.entries(properties ?? {}).flatMap(([member, { example, items, $ref, allOf, format }]) =>
        example !== undefined || items || $ref || allOf || format === 'date-time' ? [] : [`${schema}.${member}`],
      ),
    );
    expect(bare).toEqual([]);
  });

  it('has an example of a receiver that can be put as it stands', async () => {
    const put = operations.find(({ method }) => method === 'PUT');
    const made = await rest.ask('operator', 'PUT /v1/notification-receivers/ops-desk', put?.body);
    expect([made.status, made.json['errors']]).toEqual([201, undefined]);
  });
});
