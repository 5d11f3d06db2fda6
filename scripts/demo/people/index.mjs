import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Hook } from './hook.mjs';
import { Mailbox } from './mailbox.mjs';
import { Phones } from './phones.mjs';

/** Who is told of what, as files for "parley notifications receivers set". */
const RECEIVERS = {
  purchasing: {
    name: 'Purchasing',
    email: 'purchasing@company.example',
    subscriptions: [
      { kind: 'order-rejected', channels: ['email'] },
      { kind: 'order-accepted', channels: ['email'], partners: ['initech'] },
    ],
  },
  warehouse: {
    name: 'Warehouse',
    subscriptions: [
      { kind: 'order-shipped', channels: ['webhook'] },
      { kind: 'order-accepted', channels: ['webhook'], partners: ['acme'] },
    ],
  },
};

/** Everybody who is told something, each on this machine and with a memory of what came. */
export class People {
  mailbox = new Mailbox();
  phones = new Phones();
  hook = new Hook();

  async start() {
    this.servers = [this.mailbox, this.phones, this.hook];
    await Promise.all(this.servers.map((server) => server.start()));
  }

  /** Of a Parley that reaches them. */
  get env() {
    return {
      ...this.mailbox.env,
      ...this.phones.env,
      WEBHOOK_SECRET_KEYS: randomBytes(32).toString('base64'),
      WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
      // Some hundred orders in a minute, to one address each.
      EMAIL_PER_SECOND: '100',
      WEBHOOK_PER_SECOND: '100',
      // The demo kills who sends: what it had is looked at again after one and a half of it, instead of after a minute.
      NOTIFICATION_LEASE_MS: '5000',
    };
  }

  /** Registers them by the command line, as an operator does; returns what was answered of each, without the secret. */
  async register(system, key) {
    const files = Object.entries(RECEIVERS).map(([id, receiver]) => {
      const body = id === 'warehouse' ? { ...receiver, webhookUrl: this.hook.url } : receiver;
      const file = join(system.folder, `${id}.json`);
      writeFileSync(file, JSON.stringify(body));
      return [id, file];
    });
    const env = { PARLEY_URL: system.apiUrl, PARLEY_API_KEY: key };
    await Promise.all(
      files.map(async ([id, file]) => {
        const args = ['notifications', 'receivers', 'set', id, '--file', file, '--json'];
        const { webhookSecret } = JSON.parse((await system.runParley(args, { env })).stdout);
        if (webhookSecret) this.hook.secret = webhookSecret;
      }),
    );
  }

  /** How often each notification came, by its id. */
  received() {
    const ids = [...this.mailbox.mails, ...this.phones.sent, ...this.hook.received].map(({ id }) => id);
    return new Map([...Map.groupBy(ids, (id) => id)].map(([id, list]) => [id, list.length]));
  }

  async stop() {
    await Promise.all((this.servers ?? []).map((server) => server.stop().catch(() => undefined)));
  }
}
