import { randomUUID } from 'node:crypto';
import avro from 'avsc';
import { Producer } from '@platformatic/kafka';
import { framed } from '../clerk.mjs';

const TOPIC = 'notifications.request.v1';
/** It has one id wherever Parley runs. */
export const COMPANY = 'company';

/** A system of the company's own, which asks Parley to tell somebody something: by its account, in Avro, by the schema in the registry. */
export class Shop {
  constructor(system, schemas) {
    this.system = system;
    this.schema = schemas.find(({ subject }) => subject === `${TOPIC}-parley.v1.NotificationRequest`);
  }

  /** One record each, in this order. */
  async ask(...requests) {
    const type = avro.Type.forSchema(JSON.parse(this.schema.schema));
    const producer = new Producer({ clientId: 'shop', ...this.system.access.asCompany() });
    try {
      const messages = requests.map((request) => ({
        topic: TOPIC,
        key: Buffer.from(request.notificationId),
        value: framed(this.schema.id, type.toBuffer(documentOf(request))),
        headers: new Map(headers().map((pair) => pair.map((text) => Buffer.from(text)))),
      }));
      await producer.send({ acks: -1, messages });
    } finally {
      await producer.close();
    }
  }
}

const documentOf = ({ data, ...request }) => ({
  ...{ receiver: null, orderNumber: null, partner: null, expiresAt: null, issuedAt: new Date().toISOString() },
  ...request,
  data: Object.entries(data).map(([name, value]) => ({ name, value })),
});

const headers = () => [
  ...[
    ['ce_specversion', '1.0'],
    ['ce_id', randomUUID()],
    ['ce_source', '/shop'],
  ],
  ...[
    ['ce_type', 'parley.notification-request.v1'],
    ['content-type', 'application/avro'],
  ],
];
