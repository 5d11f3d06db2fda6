import {
  type ErrorReport,
  type NotificationRequest,
  notificationRequest,
  OWN_SYSTEMS,
  topicFor,
  typeOf,
} from '../../../../src/contracts';
import { createProcessor, type InboundBatch } from '../../../../src/messaging/consumer';
import type { InboundRecord } from '../../../../src/messaging/kafka';
import { JsonCodec } from '../../../../src/messaging/registry';
import { Notifications } from '../../../../src/notifications';
import { NotificationRequestHandler } from '../../../../src/notifications/requests/notification-request.handler';
import { TestBatch } from '../../consumer/records';
import { logger, openWorld, type World } from '../../consumer/harness';
import { addPartner } from '../../orders/orders-app';

/** Our own systems and the partner acme, behind the fetch. */
export interface RequestsWorld extends World {
  /** As one consumer process takes them; several are several processes. */
  consumer(): (...records: readonly InboundRecord[]) => Promise<void>;
}

export async function openRequests(): Promise<RequestsWorld> {
  const world = await openWorld();
  const { database, channels } = world;
  for (const id of [OWN_SYSTEMS, 'acme']) await addPartner(database, id, 'json');
  await channels.load();
  const handler = new NotificationRequestHandler(new Notifications(database));
  const config = { consumerBatchSize: 500, consumerLingerMs: 0, databasePoolSize: 2 };
  const processors: ReturnType<typeof createProcessor>[] = [];
  return {
    ...world,
    consumer: () => {
      const processor = createProcessor({ config, database, channels, codec: new JsonCodec(), logger }, (_, batch) =>
        handler.handle(batch as InboundBatch<NotificationRequest>),
      );
      processors.push(processor);
      return async (...records) => {
        await processor.process(new TestBatch(records));
      };
    },
    close: async () => {
      await Promise.all(processors.map((processor) => processor.close()));
      await world.close();
    },
  };
}

const TEXT = [
  { name: 'title', value: 'It is ready' },
  { name: 'text', value: 'Look at it.' },
];

/** A message to the receiver `purchasing`, unless told otherwise; undefined takes a member away. */
export const aRequest = (
  notificationId: string,
  change: { [K in keyof NotificationRequest]?: NotificationRequest[K] | undefined } = {},
): NotificationRequest =>
  JSON.parse(
    JSON.stringify({
      ...{ notificationId, kind: 'message', issuedAt: new Date().toISOString() },
      ...{ receiver: 'purchasing', data: TEXT, ...change },
    }),
  ) as NotificationRequest;

let offsets = 0n;

/** As it lies on the topic. */
export function requestRecord(
  value: NotificationRequest,
  { id, topic = topicFor(notificationRequest, OWN_SYSTEMS) }: { id?: string; topic?: string } = {},
): InboundRecord {
  const offset = offsets++;
  return {
    ...{ topic, partition: 0, offset, timestamp: Date.now() },
    key: Buffer.from(value.notificationId),
    value: Buffer.from(JSON.stringify(value)),
    headers: { ce_id: id ?? `asked-${offset}`, ce_type: typeOf(notificationRequest) },
  };
}

export interface Asked {
  receiver: string | null;
  channel: string;
  address: string;
  state: string;
  data: Record<string, unknown>;
}

/** What was made of a request. */
export const madeOf = ({ database }: World, notificationId: string): Promise<Asked[]> =>
  database.query<Asked>(
    'SELECT receiver, channel, address, state, data FROM notification WHERE event_id = :id ORDER BY created_at',
    { id: `request/${notificationId}` },
  );

/** The reports about a request on our own systems' error topic, as they lie in the outbox. */
export async function reportsOn({ database }: World, notificationId: string): Promise<ErrorReport[]> {
  const rows = await database.query<{ topic: string; payload: Buffer }>(
    'SELECT topic, payload FROM outbox_message WHERE aggregateid = :notificationId ORDER BY seq',
    { notificationId },
  );
  for (const { topic } of rows) expect(topic).toBe('errors.company.v1');
  return rows.map(({ payload }) => JSON.parse(payload.toString()) as ErrorReport);
}

/** `[code, pointer]` of what died of a request. */
export const deathsOf = async ({ database }: World, key: string) =>
  (
    await database.query<{ code: string; pointer: string | null }>(
      `SELECT code, pointer FROM parked_inbound WHERE key = :key AND state = 'dead' ORDER BY id`,
      { key },
    )
  ).map(({ code, pointer }) => [code, pointer]);
