import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freshDatabase } from '../support/database';
import { eventually } from '../support/eventually';
import { guardedKafka } from '../support/guarded-kafka';
import { uniqueName } from '../support/kafka';
import { ParleyProcess } from '../support/parley-process';
import { startTcpProxy } from '../support/tcp-proxy';

const WATCHED_MS = 30_000;
/** Connections in that time, of publisher, its quarantine, consumer and three administering clients together. */
const MOST = 150;
/** Lines in the log: one for each of five lanes, then one of relay, consumer and comparison of topics each; some room for another lane. */
const MOST_LINES = 10;

const folder = mkdtempSync(join(tmpdir(), 'parley-password-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function place(parley: ParleyProcess, partner: string): Promise<string> {
  const answer = await parley.request('/v1/orders', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': uniqueName('key') },
    body: JSON.stringify({
      partner,
      currency: 'EUR',
      lines: [{ lineNumber: 1, item: 'X1', quantity: '2', unit: 'C62', unitPrice: '9.50' }],
    }),
  });
  expect(answer.status).toBe(201);
  return ((await answer.json()) as { orderNumber: string }).orderNumber;
}

const linesWith = (output: string, text: string): number => output.split('\n').filter((l) => l.includes(text)).length;

it('a wrong password makes no flood, is said once, and is mended in its file without a restart', async () => {
  const [database, kafka] = [await freshDatabase(), guardedKafka()];
  const wire = await startTcpProxy({ port: Number(kafka.brokers.split(':')[1]) });
  const file = join(folder, 'password');
  writeFileSync(file, 'a-wrong-one');
  const partners = [uniqueName('acme'), uniqueName('acme'), uniqueName('acme')];
  const onboarding = await ParleyProcess.prepare(database);
  for (const partner of partners) await onboarding.addPartner(partner, '--format', 'json');
  const parley = await ParleyProcess.prepare(database, {
    KAFKA_BROKERS: `localhost:${wire.port}`,
    KAFKA_SASL_PASSWORD: '',
    KAFKA_SASL_PASSWORD_FILE: file,
  });
  try {
    await parley.start();
    const orders: string[] = [];
    for (const partner of [...partners, ...partners]) orders.push(await place(parley, partner));
    await eventually(() => linesWith(parley.output, 'authentication-failed') >= 1);
    const [before, until] = [wire.accepted, Date.now() + WATCHED_MS];
    await eventually(() => Date.now() >= until, { timeout: 2 * WATCHED_MS, interval: 100 });
    const attempts = wire.accepted - before;
    expect(attempts).toBeLessThan(MOST);
    expect(linesWith(parley.output, 'authentication-failed')).toBeLessThanOrEqual(MOST_LINES);
    const readiness = await (await fetch(`${parley.managementUrl}/readyz?verbose`)).text();
    expect(readiness).toContain('KAFKA_SASL_PASSWORD');
    writeFileSync(file, kafka.parley.password);
    for (const orderNumber of orders) {
      await eventually(
        async () => {
          const answer = await parley.request(`/v1/orders/${orderNumber}/timeline`);
          const { steps } = (await answer.json()) as { steps: { step: string; offset: string | null }[] };
          return steps.some(({ step, offset }) => step === 'published' && offset !== null);
        },
        { timeout: 60_000, interval: 200, what: `order ${orderNumber} is published` },
      );
    }
  } finally {
    await parley.end('SIGKILL');
    await wire.close();
  }
}, 240_000);
