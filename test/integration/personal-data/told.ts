import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { Notifications } from '../../../src/notifications';
import { eventually } from '../../support/eventually';
import { uniqueName } from '../../support/kafka';
import { send } from '../orders/orders-app';
import type { CrawledApp } from './crawled-app';

/** A mail server that takes nothing, and quotes the address as such servers do. */
export interface RefusingMailServer {
  /** Configuration of a process that sends through it, and webhooks to this machine. */
  env: NodeJS.ProcessEnv;
  close(): Promise<void>;
}

export async function startRefusingMailServer(): Promise<RefusingMailServer> {
  const server = new SMTPServer({
    ...{ authOptional: true, disabledCommands: ['AUTH', 'STARTTLS'], logger: false },
    onRcptTo: ({ address }, _, done) =>
      done(Object.assign(new Error(`5.1.1 <${address}>: ${address} is nobody here`), { responseCode: 550 })),
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  return {
    env: {
      ...{ SMTP_HOST: '127.0.0.1', SMTP_PORT: String(port), SMTP_TLS: 'none', EMAIL_FROM: 'orders@example.com' },
      ...{ WEBHOOK_SECRET_KEYS: Buffer.alloc(32, 7).toString('base64'), WEBHOOK_ALLOWED_NETWORKS: '127.0.0.1' },
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** Has people and systems told whose addresses, and what they are told, are personal; resolves when each was tried. */
export async function tellPeople(
  { running, database, keys, partner }: CrawledApp,
  secret: (what: string, text?: string) => string,
): Promise<void> {
  const receiver = {
    name: 'Purchasing',
    email: secret('receiver email', `${uniqueName('mara')}@example.com`),
    phone: secret('receiver phone', `+49151${Date.now()}`.slice(0, 15)),
    webhookUrl: `http://127.0.0.1:9/${secret('webhook path', uniqueName('hook'))}`,
    subscriptions: [],
  };
  const put = await send({ app: running.app, key: keys.admin }, 'PUT', '/v1/notification-receivers/desk', receiver);
  if (put.status !== 201) throw new Error(put.body);
  secret('webhook secret', String(put.json['webhookSecret']));
  const at = new Date();
  const asked = (id: string, more: object) => ({
    ...{ id: `request/${id}`, kind: 'message', at, partner, requestHash: '00', ...more },
    data: { title: secret(`title of ${id}`), text: secret(`text of ${id}`) },
  });
  const address = secret('asked address', `${uniqueName('kim.doe')}@example.com`);
  const code = { code: secret('code', uniqueName('code')) };
  await database.transaction((tx) =>
    running.app
      .get(Notifications)
      .raise(
        tx,
        [
          asked('mail', { to: { channel: 'email', address } }),
          asked('desk', { to: { receiver: 'desk', channel: 'email' } }),
          asked('hook', { to: { receiver: 'desk', channel: 'webhook' } }),
          { ...asked('code', { kind: 'confirmation-code', to: { channel: 'email', address } }), data: code },
        ],
        at,
      ),
  );
  await eventually(
    async () => {
      const rows = await database.query<{ attempts: number }>('SELECT attempts FROM notification');
      return rows.length >= 4 && rows.every(({ attempts }) => attempts > 0);
    },
    { timeout: 60_000, what: 'each notification was tried' },
  );
}
