import { type RegistryServer, startRegistry } from '../../scripts/servers/index.mjs';
import { freshDatabase } from '../support/database';
import { eventually } from '../support/eventually';
import { asPartner } from '../support/guarded-kafka';
import { readAll, uniqueName } from '../support/kafka';
import { ParleyProcess, Program } from '../support/parley-process';

// A registry of its own: it is killed.
let registry: RegistryServer;
beforeAll(async () => {
  registry = await startRegistry();
}, 180_000);
afterAll(() => registry.stop());

interface System {
  parley: ParleyProcess;
  partner: string;
  simulator: Program;
  stop(): Promise<void>;
}

/** Parley, not started, and a partner that speaks Avro: orders named S-… are shipped, the others accepted. */
async function prepare({ published }: { published: boolean }): Promise<System> {
  const partner = uniqueName('acme');
  const [url, group] = [await freshDatabase(), { KAFKA_CONSUMER_GROUP: uniqueName('parley') }];
  const parley = await ParleyProcess.prepare(url, { ...group, SCHEMA_REGISTRY_URLS: registry.url });
  // Onboarding registers the schemas where it knows of a registry.
  const onboarding = published ? parley : await ParleyProcess.prepare(url, group);
  const door = await onboarding.addPartner(partner, '--format', 'avro', '--partitions', '2');
  const { args, env } = asPartner(door);
  const manners = ['--partner', `${partner}=avro`, '--rule', 'S-*=ship', '--ship-ms', '1500'];
  const simulator = Program.run('simulator/main.js', [...args, '--registry', registry.url, ...manners], env);
  const stop = async () => {
    await Promise.all([parley.end('SIGKILL'), simulator.end('SIGKILL')]);
  };
  return { parley, partner, simulator, stop };
}

const post = (parley: ParleyProcess, path: string, key: string, body: object): Promise<Response> =>
  parley.request(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify(body),
  });

function place({ parley, partner }: System, orderNumber: string): Promise<Response> {
  const line = { item: 'X1', quantity: '2.5', unit: 'C62', unitPrice: '9.50' };
  const lines = [1, 2].map((lineNumber) => ({ lineNumber, ...line }));
  return post(parley, '/v1/orders', `place-${orderNumber}`, { orderNumber, partner, currency: 'EUR', lines });
}

const becomes = ({ parley }: System, orderNumber: string, state: string): Promise<unknown> =>
  eventually(
    async () => {
      const order = (await (await parley.request(`/v1/orders/${orderNumber}`)).json()) as { state: string };
      return order.state === state || Promise.reject(new Error(order.state));
    },
    { timeout: 40_000, interval: 100, what: `order ${orderNumber} is ${state}; Parley printed: ${parley.output}` },
  );

/** An order that is accepted, one that is cancelled and one that is shipped: every document that there is. */
async function everyDocument(system: System, round: string): Promise<void> {
  for (const kind of ['A', 'C', 'S']) expect((await place(system, `${kind}-${round}`)).status).toBe(201);
  await becomes(system, `A-${round}`, 'accepted');
  await becomes(system, `C-${round}`, 'accepted');
  const path = `/v1/orders/C-${round}/cancellation`;
  expect((await post(system.parley, path, `cancel-${round}`, { reason: 'ordered twice' })).status).toBe(202);
  await becomes(system, `C-${round}`, 'cancelled');
  await becomes(system, `S-${round}`, 'shipped');
}

describe('Parley with a partner that speaks Avro', () => {
  it('goes on in both directions while the registry is dead, once it has met every schema', async () => {
    const system = await prepare({ published: true });
    try {
      await system.parley.start();
      await everyDocument(system, 'warm');
      await registry.kill();
      await everyDocument(system, 'dead');
      expect(await system.parley.probe('readyz')).toBe(200);
      await registry.restart();
      await everyDocument(system, 'back');
      const records = await readAll(`orders.${system.partner}.request.v1`);
      expect(records).toHaveLength(12);
      for (const { value, headers } of records) {
        expect(value?.[0]).toBe(0);
        expect(String(headers['content-type'])).toBe('application/avro');
      }
    } finally {
      if ((await fetch(registry.url).catch(() => undefined)) === undefined) await registry.restart();
      await system.stop();
    }
  }, 300_000);

  it('refuses with 503 what it can not encode for want of the registry, writes nothing, and takes it when that is back', async () => {
    const system = await prepare({ published: true });
    const { parley } = system;
    try {
      await registry.kill();
      await parley.start();
      const refused = await place(system, 'A-cold');
      expect(refused.status).toBe(503);
      expect(await refused.json()).toMatchObject({ code: 'registry-unavailable' });
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      expect((await parley.request('/v1/orders/A-cold')).status).toBe(404);
      await registry.restart();
      // The same key: nothing of the refused request is left that would stand in its way.
      await eventually(async () => (await place(system, 'A-cold')).status === 201, { interval: 250 });
      await becomes(system, 'A-cold', 'accepted');
    } finally {
      if ((await fetch(registry.url).catch(() => undefined)) === undefined) await registry.restart();
      await system.stop();
    }
  }, 300_000);

  it('says that the schemas are not published yet, and takes orders once they are', async () => {
    const system = await prepare({ published: false });
    const { parley, simulator } = system;
    try {
      await parley.start();
      const refused = await place(system, 'A-early');
      expect(refused.status).toBe(503);
      expect(await refused.json()).toMatchObject({ code: 'schema-unpublished' });
      await eventually(() => simulator.output.includes('parley contracts publish'), { timeout: 90_000 });
      await parley.cli('contracts', 'publish', '--yes');
      await eventually(async () => (await place(system, 'A-early')).status === 201, { interval: 250 });
      await becomes(system, 'A-early', 'accepted');
    } finally {
      await system.stop();
    }
  }, 300_000);
});
