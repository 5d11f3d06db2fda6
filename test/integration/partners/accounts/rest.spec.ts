import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { type Database, ifFree, query } from '../../../../src/platform/database';
import { eventually } from '../../../support/eventually';
import { produce } from '../../../support/kafka';
import { accountWaits } from '../../../support/partners';
import { giveKey, type TestKey } from '../../../support/staff';
import { recordingLogger } from '../../kafka/fixtures';
import { type Answer, send } from '../../orders/orders-app';
import { answerTopic, asAccount, type Bench, DAY_MS, givePartner, startBench, statesOf } from './harness';
import { startApp } from './rest-app';

const { logger, lines } = recordingLogger('trace');
let bench: Bench;
let app: NestFastifyApplication;
let database: Database;
let url: string;
let viewer: TestKey;
let admin: TestKey;

beforeAll(async () => {
  bench = await startBench();
  ({ database } = bench);
  app = await startApp(bench, logger);
  url = await app.getUrl();
  viewer = await giveKey(database, { role: 'viewer', areas: ['partners'] });
  admin = await giveKey(database, { role: 'admin', areas: ['partners'] });
});
afterAll(async () => {
  await app.close();
  await bench.close();
});

const get = (path: string, key = viewer): Promise<Answer> => send({ app, key }, 'GET', path);
const rotate = (partner: string, body: Record<string, unknown>, key = admin): Promise<Answer> =>
  send({ app, key }, 'POST', `/v1/partners/${partner}/rotation`, body);

describe('partners by REST', () => {
  it('shows a partner with its channels, accounts, limits and certification', async () => {
    const { partner, username } = await givePartner(bench, { name: 'Acme Ltd', partitions: 2 });
    const now = bench.clock.now();
    const results = [1, 2].flatMap((run) => [
      { run, name: 'connect', verdict: 'passed' },
      { run, name: 'broker-restart', verdict: 'skipped' },
    ]);
    const report = { brokers: ['kafka:9093'], results };
    await database.transaction((tx) =>
      query(
        tx,
        `INSERT INTO partner_certification (id, partner, suite, passed, report, ran_at, ran_by, expires_at)
         VALUES (gen_random_uuid(), :partner, '1', true, :report, :now, 'test', :later)`,
        { partner, now, later: new Date(now.getTime() + DAY_MS), report: JSON.stringify(report) },
      ),
    );
    const shown = await get(`/v1/partners/${partner}`);
    expect(shown.status).toBe(200);
    expect(shown.headers['etag']).toBe('"1"');
    expect(shown.json).toMatchObject({
      ...{ id: partner, name: 'Acme Ltd', state: 'active', since: null, version: 1, lastSentAt: null },
      certification: {
        ...{ suite: '1', passed: true, expired: false, failed: [], skipped: ['broker-restart'] },
        ...{ brokers: ['kafka:9093'], ranBy: 'test' },
      },
      quotas: { producerBytesPerSecond: expect.any(Number) as number },
    });
    expect(shown.json['channels']).toContainEqual({
      ...{ topic: answerTopic(partner), direction: 'in', format: 'json', partitions: 2 },
    });
    expect(shown.json['accounts']).toEqual([
      {
        ...{ username, kind: 'scram-sha-512', state: 'active', warning: null, createdBy: 'key_test' },
        ...{ createdAt: now.toISOString(), validUntil: new Date(now.getTime() + 365 * DAY_MS).toISOString() },
        ...{ disabledAt: null, retiredAt: null, lastSeenAt: null, lastSeenFrom: null },
      },
    ]);
  });

  it('lists partners page by page, to a key of some partners only these', async () => {
    const [first, second] = [await givePartner(bench), await givePartner(bench)];
    const seen: string[] = [];
    for (let path = '/v1/partners?limit=1'; path !== '';) {
      const page = await get(path);
      expect(page.status).toBe(200);
      seen.push(...(page.json['items'] as { id: string }[]).map(({ id }) => id));
      const cursor = page.json['nextCursor'] as string | null;
      path = cursor === null ? '' : `/v1/partners?limit=1&cursor=${cursor}`;
    }
    expect(seen).toEqual(seen.toSorted());
    expect(seen).toEqual(expect.arrayContaining([first.partner, second.partner]));
    const confined = await giveKey(database, { role: 'admin', partners: [second.partner] });
    expect((await get('/v1/partners', confined)).json['items']).toMatchObject([{ id: second.partner }]);
    for (const answer of [
      await get(`/v1/partners/${first.partner}`, confined),
      await rotate(first.partner, { replaces: first.username }, confined),
      await get('/v1/partners/nobody'),
    ]) {
      expect(answer).toMatchObject({ status: 404, json: { code: 'partner-not-found' } });
    }
    expect(await get('/v1/partners?cursor=nonsense')).toMatchObject({ status: 400 });
  });

  it('rotates once: tells the password in the answer, and a repeat makes no further account', async () => {
    const { partner, username } = await givePartner(bench);
    expect((await rotate(partner, { replaces: username }, viewer)).status).toBe(403);
    expect(await rotate(partner, {})).toMatchObject({ status: 400, json: { code: 'request-invalid' } });
    const answer = await rotate(partner, { replaces: username, oldValidForHours: 24 });
    expect(answer).toMatchObject({
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: {
        username: `${partner}.2`,
        replaces: { username, until: new Date(bench.clock.now().getTime() + DAY_MS).toISOString() },
      },
    });
    const password = answer.json['password'] as string;
    expect(password).toMatch(/^[\w-]{32}$/);
    await produce(answerTopic(partner), [{ value: 'x' }], asAccount(bench, { username: `${partner}.2`, password }));
    await recorded(partner);
    expect(await rotate(partner, { replaces: username })).toMatchObject({
      status: 409,
      json: { code: 'account-replaced' },
    });
    expect(await statesOf(bench, partner)).toEqual({ [username]: 'retiring', [`${partner}.2`]: 'active' });
  });

  it('counts an account only when its password is out: whoever went away before gets another one for it', async () => {
    const { partner, username } = await givePartner(bench);
    const caller = new AbortController();
    const held = database.dataSource.createQueryRunner();
    await held.startTransaction();
    await held.query('LOCK TABLE partner_account IN EXCLUSIVE MODE');
    try {
      const asked = fetch(`${url}/v1/partners/${partner}/rotation`, {
        method: 'POST',
        signal: caller.signal,
        headers: { ...admin.headers, 'content-type': 'application/json' },
        body: JSON.stringify({ replaces: username }),
      });
      // It waits for the lock, so nothing is told yet.
      await accountWaits(database);
      caller.abort();
      await expect(asked).rejects.toThrow();
    } finally {
      await held.rollbackTransaction();
      await held.release();
    }
    await eventually(() => lines.some(({ code, partner: of }) => code === 'account-untold' && of === partner));
    expect(await statesOf(bench, partner)).toEqual({ [username]: 'active', [`${partner}.2`]: 'creating' });
    const answer = await rotate(partner, { replaces: username });
    expect(answer).toMatchObject({ status: 200, json: { username: `${partner}.2` } });
    await recorded(partner);
    expect(await statesOf(bench, partner)).toEqual({ [username]: 'retiring', [`${partner}.2`]: 'active' });
  });

  it('keeps a secret nowhere: not in a table, a log line, an error or the audit', async () => {
    const { partner, username, password: first } = await givePartner(bench);
    const { json } = await rotate(partner, { replaces: username });
    await recorded(partner);
    const failed = await bench.rotation
      .rotate({ partner }, maker, async ({ password }) => {
        secrets.push(password ?? '');
        throw new Error('nobody heard it');
      })
      .catch((error: unknown) => error as Error);
    secrets.push(first, json['password'] as string);
    expect(secrets.every((secret) => secret.length === 32)).toBe(true);
    const kept = await everythingIn(database);
    const told = `${JSON.stringify(lines)}${String((failed as Error).stack)}${JSON.stringify(failed)}`;
    for (const secret of secrets) {
      expect(kept).not.toContain(secret);
      expect(told).not.toContain(secret);
    }
    expect(kept).toContain(`partner-account/${partner}.2`);
  });
});

/** The answer is out first; only then is it recorded, and is the partner free for the next change. */
const recorded = (partner: string): Promise<boolean> =>
  eventually(() => ifFree(database, `partner/${partner}`, async () => true));

const secrets: string[] = [];
const maker = { id: 'key_test', name: 'Ada', role: 'admin', areas: null, partners: null, origin: 'test' } as const;

/** Every row of every table, as text. */
async function everythingIn({ dataSource }: Database): Promise<string> {
  const tables = await dataSource.query<{ name: string }[]>(
    `SELECT quote_ident(relname) AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`,
  );
  const texts: string[] = [];
  for (const { name } of tables) {
    const rows = await dataSource.query<{ row: string }[]>(`SELECT t::text AS row FROM ${name} t`);
    texts.push(...rows.map(({ row }) => row));
  }
  return texts.join('\n');
}
