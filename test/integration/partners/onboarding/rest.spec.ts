import 'reflect-metadata';
import { Database } from '../../../../src/platform/database';
import { openApi } from '../../../../src/platform/http';
import { createLogger } from '../../../../src/platform/telemetry';
import { PARTNER_FILE_SCHEMA } from '../../../../src/partners/onboarding';
import { type Running, start } from '../../../../src/start';
import { testConfig } from '../../../support/config';
import { freshDatabase } from '../../../support/database';
import { asAdministrator, asParley, guardedKafka } from '../../../support/guarded-kafka';
import { uniqueName } from '../../../support/kafka';
import { eventually } from '../../../support/eventually';
import { accountWaits } from '../../../support/partners';
import { giveKey, type TestKey } from '../../../support/staff';

interface Answer {
  status: number;
  headers: Record<string, unknown>;
  json: Record<string, unknown> & { planId?: string; code?: string; account?: { username: string; password: string } };
}

const silent = createLogger('silent', 'test');
let running: Running;
let database: Database;
let key: TestKey;

beforeAll(async () => {
  const kafka = guardedKafka();
  const env = {
    ...asParley(kafka),
    ...asAdministrator(kafka),
    ROLES: 'api',
    KAFKA_CONSUMER_GROUP: uniqueName('parley'),
  };
  running = await start(testConfig(await freshDatabase(), env), silent);
  await running.started;
  database = running.app.get(Database);
  key = await giveKey(database);
});
afterAll(() => running?.lifecycle.stop('test'));

async function put(path: string, body: unknown, { headers } = key, at = running): Promise<Answer> {
  const answer = await at.app.inject({
    ...{ method: 'PUT', url: `/v1/partners/${path}`, payload: JSON.stringify(body) },
    headers: { ...headers, 'content-type': 'application/json' },
  });
  return { status: answer.statusCode, headers: answer.headers, json: JSON.parse(answer.body) as Answer['json'] };
}

const rows = (partner: string) => database.query('SELECT 1 FROM partner WHERE id = :partner', { partner });

describe('PUT /v1/partners/{id}', () => {
  it('plans, applies that plan, tells the password once, and does nothing the second time', async () => {
    const partner = uniqueName('acme');
    const body = { format: 'json', partitions: 1, name: 'Acme Ltd' };
    const plan = await put(`${partner}?plan=true`, body);
    expect(plan).toMatchObject({ status: 200, json: { partner, account: null } });
    expect(plan.json['changes']).toContainEqual({ op: '+', kind: 'partner', name: partner, detail: partner });
    expect(await rows(partner)).toEqual([]);
    const applied = await put(`${partner}?planId=${plan.json.planId}`, body);
    expect(applied).toMatchObject({
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ...plan.json, account: { username: `${partner}.1`, password: expect.any(String) as string } },
    });
    // The account counts when the answer is out, and so a moment after it is here.
    const again = await eventually(async () => {
      const answer = await put(partner, { ...body, partner });
      return answer.status === 200 && answer;
    });
    expect(again).toMatchObject({ status: 200, json: { changes: [], account: null } });
    expect(await put(`${partner}?planId=${plan.json.planId}`, body)).toMatchObject({
      status: 409,
      json: { code: 'partner-plan-changed' },
    });
  });

  it('writes down who did what, and no secret', async () => {
    const partner = uniqueName('acme');
    const { json } = await put(partner, { format: 'json', partitions: 1 });
    // The account counts when the answer is out, and so a moment after it is here.
    const entries = await eventually(async () => {
      const found = await database.query<{ action: string; caller: string; detail: unknown }>(
        'SELECT action, caller, detail FROM audit_entry WHERE partner = :partner ORDER BY id',
        { partner },
      );
      return found.length > 1 && found;
    });
    expect(entries.map(({ action, caller }) => [action, caller])).toEqual([
      ['partner.onboard', key.id],
      ['partner-account.create', key.id],
    ]);
    expect(entries[0]?.detail).toMatchObject({
      plan: json.planId,
      changes: expect.arrayContaining([`+ partner ${partner}`]) as string[],
    });
    const password = json.account?.password ?? '';
    expect(password).toHaveLength(32);
    const dumped = await database.query(
      `SELECT (SELECT json_agg(a) FROM audit_entry a)::text AS audit, (SELECT json_agg(s) FROM partner_spec s)::text AS specs,
              (SELECT json_agg(p) FROM partner_account p)::text AS accounts, (SELECT json_agg(r) FROM partner_resource r)::text AS resources`,
    );
    expect(JSON.stringify(dumped)).not.toContain(password);
  });

  it('ends when its caller went away while it worked: the next one goes on, with another password', async () => {
    const partner = uniqueName('acme');
    const body = { format: 'json', partitions: 1 };
    const caller = new AbortController();
    const held = database.dataSource.createQueryRunner();
    await held.startTransaction();
    await held.query('LOCK TABLE partner_account IN EXCLUSIVE MODE');
    try {
      const asked = fetch(`${await running.app.getUrl()}/v1/partners/${partner}`, {
        ...{ method: 'PUT', signal: caller.signal, body: JSON.stringify(body) },
        headers: { ...key.headers, 'content-type': 'application/json' },
      });
      const went = expect(asked).rejects.toThrow();
      // Its topics are made; it waits for the lock to write down its account.
      await accountWaits(database);
      caller.abort();
      await went;
    } finally {
      await held.rollbackTransaction();
      await held.release();
    }
    const again = await eventually(async () => {
      const answer = await put(partner, body);
      return answer.status === 200 && answer;
    });
    expect(again.json.account).toMatchObject({ username: `${partner}.1`, password: expect.any(String) as string });
  });

  it('says all that is wrong with the body at once, and does nothing', async () => {
    const partner = uniqueName('acme');
    const body = {
      ...{ format: 'xml', partitions: 0, retentionHours: 3 },
      ...{ topics: { minInsyncReplicas: 0 }, authentication: { type: 'tls' }, quotas: { producerBytesPerSecond: '1' } },
    };
    const answer = await put(partner, body);
    expect(answer).toMatchObject({ status: 422, json: { code: 'partner-spec-invalid' } });
    const pointers = (answer.json['errors'] as { pointer: string }[]).map(({ pointer }) => pointer);
    expect(pointers.toSorted()).toEqual([
      '/format',
      '/partitions',
      '/quotas/producerBytesPerSecond',
      '/retentionHours',
      '/topics/minInsyncReplicas',
    ]);
    expect(await put(partner, { partner: 'umbra' })).toMatchObject({
      status: 422,
      json: { errors: [{ pointer: '/partner', detail: `must be ${partner}, or be left out` }] },
    });
    expect(await rows(partner)).toEqual([]);
  });

  it('is for administrators, of this partner', async () => {
    const partner = uniqueName('acme');
    const operator = await giveKey(database, { role: 'operator' });
    expect(await put(partner, {}, operator)).toMatchObject({ status: 403, json: { code: 'forbidden' } });
    const other = await giveKey(database, { partners: ['umbra'] });
    expect(await put(partner, {}, other)).toMatchObject({ status: 403, json: { code: 'partner-not-allowed' } });
    expect(await rows(partner)).toEqual([]);
  });

  it("says so where Parley does not have the administrator's account", async () => {
    const env = { ...asParley(guardedKafka()), ROLES: 'api' };
    const without = await start(testConfig(await freshDatabase(), env), silent);
    try {
      await without.started;
      const admin = await giveKey(without.app.get(Database));
      expect(await put('acme', {}, admin, without)).toMatchObject({ json: { code: 'admin-account-missing' } });
    } finally {
      await without.lifecycle.stop('test');
    }
  });

  it('is described by the very schema that bodies are held against', () => {
    const { $schema: _, required: __, ...schema } = PARTNER_FILE_SCHEMA;
    const operation = openApi(running.app).paths['/v1/partners/{id}']?.put;
    expect(operation?.requestBody).toMatchObject({ content: { 'application/json': { schema } } });
  });
});
