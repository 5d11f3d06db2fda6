import { Client } from 'pg';
import { freePort } from '../../scripts/servers/index.mjs';
import { freshDatabase } from '../support/database';
import { eventually } from '../support/eventually';
import { atEnd } from '../support/faults';
import { Program } from '../support/parley-process';
import { SmsProviderServer } from '../support/sms-provider';

interface Readiness {
  status: string;
  checks: Record<string, { status: string; message?: string }>;
}

const SOON = { timeout: 90_000, interval: 50 };
/** Where nobody listens. */
const NOBODY = '127.0.0.1:1';

let phones: SmsProviderServer;
let database: Client;
let notifier: Program;
let management: string;
beforeAll(async () => {
  phones = await SmsProviderServer.start();
  atEnd(() => phones.stop());
  const url = await freshDatabase();
  database = new Client({ connectionString: url });
  await database.connect();
  atEnd(() => database.end());
  const port = await freePort();
  management = `http://127.0.0.1:${port}`;
  notifier = Program.run('main.js', [], {
    ...{ DATABASE_URL: url, ROLES: 'notifier', MANAGEMENT_PORT: String(port), LOG_LEVEL: 'info' },
    SCHEMA_REGISTRY_URLS: `http://${NOBODY}`,
    ...{ SHUTDOWN_TIMEOUT_MS: '20000', SHUTDOWN_DRAIN_MS: '0', NOTIFICATION_LEASE_MS: '60000' },
    ...phones.env,
  });
  atEnd(() => notifier.end('SIGKILL'));
});

/** Nobody has asked for them on a topic: there is no broker. */
const put = (count: number) =>
  database.query(
    `INSERT INTO notification (id, event_id, kind, channel, provider, address, data, happened_at, created_at, next_attempt_at, expires_at)
     SELECT gen_random_uuid(), gen_random_uuid(), 'message', 'sms', 'sms', '+4915112345678', '{"title": "News", "text": "None."}',
       now(), now(), now(), now() + interval '1 hour' FROM generate_series(1, $1)`,
    [count],
  );
const inState = async (state: string) =>
  (await database.query('SELECT FROM notification WHERE state = $1', [state])).rowCount;
const readiness = async (): Promise<{ http: number } & Readiness> => {
  const answer = await fetch(`${management}/readyz?verbose`);
  return { http: answer.status, ...((await answer.json()) as Readiness) };
};

/** Each goes on where the one before ended: it is one life of one process. */
describe('a process that only sends notifications', () => {
  it('is ready without a broker and without a schema registry, and says nothing of them', async () => {
    await eventually(async () => (await readiness()).http === 200, {
      ...SOON,
      what: `it is ready: ${notifier.output}`,
    });
    await eventually(() => notifier.output.includes('"msg":"started"'), { ...SOON, what: 'it has started' });
    const { checks } = await readiness();
    expect(checks).toEqual({
      lifecycle: { status: 'up' },
      database: { status: 'up' },
      notifier: { status: 'up' },
    });
    expect(notifier.output).not.toMatch(/broker|registry|ECONNREFUSED/);
  });

  it('sends', async () => {
    await put(3);
    await eventually(async () => (await inState('sent')) === 3, { ...SOON, what: `they are sent: ${notifier.output}` });
    expect(phones.sent).toHaveLength(3);
    // Counted when the process has heard that it is written.
    await eventually(
      async () => {
        const metrics = await (await fetch(`${management}/metrics`)).text();
        return metrics.includes('parley_notifications_total{kind="message",channel="sms",result="sent"} 3');
      },
      { ...SOON, what: 'the metrics count them' },
    );
  });

  it('stays ready and says what is wrong when its provider fails and is left alone', async () => {
    const retryAfter = { 'retry-after': '600' };
    phones.behaviour = { kind: 'answer', status: 429, body: {}, headers: retryAfter };
    await put(1);
    await eventually(async () => (await readiness()).checks['notifier']?.status === 'degraded', {
      ...SOON,
      what: `it says that its provider fails: ${notifier.output}`,
    });
    expect(await readiness()).toMatchObject({
      http: 200,
      checks: {
        notifier: {
          status: 'degraded',
          message: 'no SMS is sent for now, since that fails (sms-throttled): see parley notifications providers',
        },
      },
    });
  });

  it('ends in time while its provider says nothing, and leaves what it had in doubt', async () => {
    phones.behaviour = { kind: 'hang', sent: true };
    await database.query(`DELETE FROM notification WHERE state = 'pending'`);
    await database.query('UPDATE notification_provider SET open_until = NULL, failures = 0');
    const before = phones.received.length;
    await put(1);
    await eventually(() => phones.received.length > before, { ...SOON, what: 'its provider has one and says nothing' });
    // Behind that time it would end with 1.
    expect(await notifier.end('SIGTERM')).toBe(0);
    expect(
      (await database.query(`SELECT FROM notification WHERE doubtful AND state IN ('sending', 'pending')`)).rowCount,
    ).toBe(1);
  });
});
