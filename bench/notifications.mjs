import { createServer } from 'node:http';
import { cpuMeter, median } from './measure.mjs';
import { configOf, environment, load, makeDatabase, spawnDriver, spawnSimulator } from './parley.mjs';
import { round } from './round.mjs';
import { dropDatabase, settle, withClient } from './servers.mjs';

const { DataSource } = load('typeorm');
const { Database, dataSourceOptions } = load('../dist/src/platform/database/index.js');
const { Notifications } = load('../dist/src/notifications/index.js');

export const title = 'Notifications: what they cost orders, and what a slow provider does to them';

const AIM = 0.9;
const WAITING = 10_000;
/** How long the slow provider takes for one. */
const SLOW_MS = 3_000;
const BATCH = 500;
const ALL = 'api,relay,consumer,notifier';

/**
 * `subscribers`: told of each acceptance; `waiting`: so many wait behind the slow provider before the first order comes. Measured between
 * two rounds of the first setup, whose mean they are held against: a machine gets slower while it is used.
 */
const SETUPS = {
  'two subscribers to each order, no provider': { roles: { parley: ALL }, subscribers: 2 },
  [`${WAITING.toLocaleString('en')} waiting behind a slow provider, all roles in one process`]: {
    ...{ roles: { parley: ALL }, waiting: WAITING, slow: true },
  },
  [`${WAITING.toLocaleString('en')} waiting behind a slow provider, the notifier apart`]: {
    ...{ roles: { parley: 'api,relay,consumer', notifier: 'notifier' }, waiting: WAITING, slow: true },
  },
  [`both: two subscribers and ${WAITING.toLocaleString('en')} waiting, all roles in one process`]: {
    ...{ roles: { parley: ALL }, subscribers: 2, waiting: WAITING, slow: true },
  },
};
const NOBODY = { roles: { parley: ALL } };

/** The part of Infobip's API that is asked; it takes its time. */
async function startSlowProvider() {
  let asked = 0;
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    asked++;
    const [{ destinations }] = JSON.parse(text).messages;
    const status = { groupId: 1, groupName: 'PENDING', id: 1, name: 'PENDING_ACCEPTED', description: 'accepted' };
    await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ bulkId: 'b', messages: [{ messageId: destinations[0].messageId, status }] }));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    env: {
      SMS_URL: `http://127.0.0.1:${server.address().port}`,
      ...{ SMS_TOKEN: 'bench', SMS_FROM: 'Parley', SMS_PER_SECOND: '10000' },
    },
    asked: () => asked,
    stop: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

const subscribe = (client, count, kind) =>
  client.query(
    `WITH r AS (
       INSERT INTO notification_receiver (id, name, phone, created_at, updated_at)
       SELECT 'bench-' || $2 || '-' || n, 'Bench', '+4915112345' || lpad(n::text, 3, '0'), now(), now() FROM generate_series(1, $1::int) n RETURNING id
     ) INSERT INTO notification_subscription (receiver, kind, channel) SELECT id, $2, 'sms' FROM r`,
    [count, kind],
  );

async function withNotifications(servers, name, work) {
  const options = dataSourceOptions(configOf(servers, name), { entities: [], migrations: [] });
  const dataSource = await new DataSource(options).initialize();
  try {
    const database = new Database(dataSource);
    return await work(database, new Notifications(database));
  } finally {
    await dataSource.destroy();
  }
}

const eventOf = (run, n, kind, partner) => {
  const at = new Date();
  const orderNumber = `B-${run}-${n}`;
  const data = {
    orderNumber,
    partner: { id: partner, name: partner },
    at: at.toISOString(),
    deadline: at.toISOString(),
  };
  return { id: `bench/${run}/${n}`, kind, at, partner, orderNumber, data };
};

/** What one round of a setup gives: orders a second, and processor time of an order. */
async function measure(servers, name, setup, quick) {
  const { roles, subscribers = 0, waiting = 0, slow } = setup;
  const partners = await makeDatabase(servers, name, { partners: 2, partitions: 6 });
  const provider = slow ? await startSlowProvider() : undefined;
  const processes = {};
  let simulator;
  try {
    await withClient(servers.postgres.url(name), async (client) => {
      if (subscribers) await subscribe(client, subscribers, 'order-accepted');
      if (waiting) await subscribe(client, 1, 'order-overdue');
    });
    if (waiting) {
      await withNotifications(servers, name, async (database, notifications) => {
        for (let n = 0; n < waiting; n += BATCH) {
          const events = Array.from({ length: BATCH }, (_, i) => eventOf('wait', n + i, 'order-overdue', partners[0]));
          await database.transaction((tx) => notifications.raise(tx, events, new Date()));
        }
      });
    }
    simulator = await spawnSimulator(servers, partners);
    for (const [process, list] of Object.entries(roles)) {
      processes[process] = await spawnDriver(environment(servers, name, { ROLES: list, ...provider?.env }));
    }
    const { parley } = processes;
    await round(parley, parley, partners, quick ? 1500 : 10_000);
    await settle(servers);
    const pids = Object.fromEntries(Object.entries(processes).map(([process, { pid }]) => [process, pid]));
    const cpu = cpuMeter({ postgres: servers.postgres.pid, ...pids, broker: servers.kafka.pids });
    const asked = provider?.asked();
    const { placed, elapsedMs } = await round(parley, parley, partners, quick ? 2500 : 20_000);
    const spent = Object.entries(cpu()).map(([process, ms]) => `${process} ${(ms / placed).toFixed(3)}`);
    const made = await withClient(servers.postgres.url(name), async (client) => {
      const { rows } = await client.query(`SELECT count(*)::int AS n FROM notification WHERE kind <> 'order-overdue'`);
      return rows[0].n;
    });
    const told = subscribers ? `; ${made.toLocaleString('en')} notifications since the start` : '';
    const sent = provider ? `; the provider was asked ${provider.asked() - asked} times meanwhile` : '';
    const note = `${placed.toLocaleString('en')} orders${told}${sent}; CPU ms an order: ${spent.join(', ')}`;
    return { value: (placed * 1000) / elapsedMs, note };
  } finally {
    await Promise.all(Object.values(processes).map((process) => process.stop()));
    await simulator?.stop();
    await provider?.stop();
    await dropDatabase(servers, name);
    await settle(servers);
  }
}

/** Milliseconds of a transaction that does nothing but tell of a batch of acceptances. */
async function raising(servers, quick, report) {
  const name = 'notifyraise';
  const [partner] = await makeDatabase(servers, name, { partners: 1, partitions: 1 });
  await withNotifications(servers, name, async (database, notifications) => {
    let batches = 0;
    let bare;
    for (const subscribers of [undefined, 0, 1, 2]) {
      if (subscribers)
        await withClient(servers.postgres.url(name), (client) =>
          client
            .query('DELETE FROM notification_receiver')
            .then(() => subscribe(client, subscribers, 'order-accepted')),
        );
      const took = [];
      for (let n = 0; n < (quick ? 10 : 60); n++) {
        const run = ++batches;
        const events = Array.from({ length: BATCH }, (_, i) => eventOf(run, i, 'order-accepted', partner));
        const began = performance.now();
        await database.transaction(async (tx) => {
          // Without it there would be no transaction to commit.
          await tx.query('SELECT pg_current_xact_id()');
          if (subscribers !== undefined) await notifications.raise(tx, events, new Date());
        });
        took.push(performance.now() - began);
      }
      const value = median(took);
      bare ??= value;
      if (subscribers !== undefined) {
        const who = ['nobody subscribed', 'one subscriber', 'two subscribers'][subscribers];
        const note = `µs an event: ${(((value - bare) * 1000) / BATCH).toFixed(1)}`;
        report({ name: `telling of a batch of ${BATCH}, ${who}`, value: value - bare, unit: 'ms', note });
      }
    }
  });
  await dropDatabase(servers, name);
}

export async function run({ servers, quick, report }) {
  await raising(servers, quick, report);
  const before = await measure(servers, 'notify0x', NOBODY, quick);
  const results = [];
  for (const [index, [name, setup]] of Object.entries(SETUPS).entries())
    results.push({ name, ...(await measure(servers, `notify${index + 1}x`, setup, quick)) });
  const after = await measure(servers, 'notify9x', NOBODY, quick);
  const base = (before.value + after.value) / 2;
  const shown = [before, after].map(({ value }) => Math.round(value).toLocaleString('en')).join(' and ');
  report({
    name: 'nobody subscribed',
    value: base,
    unit: 'orders/s',
    note: `${shown}, before and after the others; ${before.note}`,
  });
  for (const { name, value, note } of results)
    report({ name, value, unit: 'orders/s', ratio: value / base, ratioTo: 'nobody subscribed', aim: AIM, note });
}
