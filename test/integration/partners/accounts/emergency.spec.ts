import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { eventually } from '../../../support/eventually';
import { produce, uniqueName } from '../../../support/kafka';
import { giveKey, type TestKey } from '../../../support/staff';
import { recordingLogger } from '../../kafka/fixtures';
import { type Answer, send } from '../../orders/orders-app';
import { answerTopic, asAccount, type Bench, DAY_MS, givePartner, rotated, startBench, statesOf } from './harness';
import { startApp } from './rest-app';

const { logger } = recordingLogger('trace');
let bench: Bench;
let app: NestFastifyApplication;
let admin: TestKey;

beforeAll(async () => {
  bench = await startBench();
  app = await startApp(bench, logger);
  admin = await giveKey(bench.database, { role: 'admin', areas: ['partners'] });
});
afterAll(async () => {
  await app.close();
  await bench.close();
});

const post = (path: string, body: Record<string, unknown>, key = admin): Promise<Answer> =>
  send({ app, key }, 'POST', `/v1/partners/${path}`, body);
const on = (partner: string, account: string, deed: string): string =>
  `${partner}/accounts/${encodeURIComponent(account)}/${deed}`;
const rulesOf = async (username: string): Promise<string[]> =>
  (await bench.security.acls({ principal: `User:${username}` })).map((acl) => JSON.stringify(acl)).toSorted();

describe('an account that was stolen, by REST', () => {
  it('is shut out and let in again, each with who and why', async () => {
    const { partner, ...account } = await givePartner(bench);
    const { username } = account;
    const before = await rulesOf(username);
    const write = () => produce(answerTopic(partner), [{ value: 'x' }], asAccount(bench, account));
    await write();
    expect(await post(on(partner, username, 'disabling'), {})).toMatchObject({
      status: 400,
      json: { code: 'request-invalid' },
    });
    const [disabling, enabling] = [on(partner, username, 'disabling'), on(partner, username, 'enabling')];
    const shutOut = { status: 200, json: { username, state: 'active', disabledAt: bench.clock.now().toISOString() } };
    expect(await post(disabling, { reason: 'it was stolen' })).toMatchObject(shutOut);
    expect(await post(disabling, { reason: 'again' })).toMatchObject(shutOut);
    await eventually(async () => failureOf(write()), { what: 'it is refused' });
    expect(await post(enabling, { reason: 'found' })).toMatchObject({ status: 200, json: { disabledAt: null } });
    expect(await rulesOf(username)).toEqual(before);
    expect(await post(enabling, {})).toMatchObject({ status: 200, json: { disabledAt: null } });
    expect(await auditOf(username)).toMatchObject([
      { action: 'partner-account.create' },
      { action: 'partner-account.disable', caller: admin.id, partner, reason: 'it was stolen' },
      { action: 'partner-account.enable', caller: admin.id, partner, reason: 'found' },
    ]);
  });

  it('is ended for good before its date, once another has taken its place', async () => {
    const { partner, ...old } = await givePartner(bench);
    const retirement = on(partner, old.username, 'retirement');
    expect(await post(retirement, { reason: 'stolen' })).toMatchObject({
      status: 409,
      json: { code: 'account-in-use' },
    });
    await rotated(bench, { partner });
    expect(await post(retirement, {})).toMatchObject({ status: 400, json: { code: 'request-invalid' } });
    const ended = { status: 200, json: { state: 'retired', retiredAt: bench.clock.now().toISOString() } };
    expect(await post(retirement, { reason: 'stolen' })).toMatchObject(ended);
    expect(await post(retirement, { reason: 'stolen' })).toMatchObject(ended);
    expect(await rulesOf(old.username)).toEqual([]);
    for (const deed of ['disabling', 'enabling'])
      expect(await post(on(partner, old.username, deed), { reason: 'x' })).toMatchObject({
        status: 409,
        json: { code: 'account-retired' },
      });
    expect((await auditOf(old.username)).at(-1)).toMatchObject({
      ...{ action: 'partner-account.retire', caller: admin.id, partner, reason: 'stolen' },
    });
  });

  it('is named by the whole subject of a certificate, too', async () => {
    const subject = `CN=${uniqueName('acme')},O=Acme & Sons/${'ü'.repeat(120)}`;
    const { partner } = await givePartner(bench, { authentication: { type: 'tls', subject } });
    expect(await post(on(partner, subject, 'disabling'), { reason: 'stolen' })).toMatchObject({
      ...{ status: 200, json: { username: subject, kind: 'tls' } },
    });
  });

  it("is none of a key's that is confined to others, nor of a role below", async () => {
    const [{ partner, username }, theirs] = [await givePartner(bench), await givePartner(bench)];
    const confined = await giveKey(bench.database, { role: 'admin', partners: [theirs.partner] });
    const operator = await giveKey(bench.database, { role: 'operator', areas: ['partners'] });
    const before = await rulesOf(username);
    for (const deed of ['disabling', 'enabling', 'retirement']) {
      const body = { reason: 'stolen' };
      expect(await post(on(partner, username, deed), body, confined)).toMatchObject({
        ...{ status: 404, json: { code: 'partner-not-found' } },
      });
      expect(await post(on(theirs.partner, username, deed), body, confined)).toMatchObject({
        ...{ status: 404, json: { code: 'account-unknown' } },
      });
      expect(await post(on(partner, username, deed), body, operator)).toMatchObject({
        ...{ status: 403, json: { code: 'forbidden' } },
      });
    }
    expect(await post(`${partner}/rotation?plan=true`, { replaces: username }, confined)).toMatchObject({
      ...{ status: 404, json: { code: 'partner-not-found' } },
    });
    expect(await post(on(theirs.partner, theirs.username, 'disabling'), { reason: 'x' }, confined)).toMatchObject({
      status: 200,
    });
    expect(await rulesOf(username)).toEqual(before);
  });
});

describe('the plan of a rotation, by REST', () => {
  it('says what would be made and refuses what a rotation would, and makes nothing', async () => {
    const { partner, username } = await givePartner(bench);
    const plan = (query: string, body: Record<string, unknown>) => post(`${partner}/rotation?${query}`, body);
    const now = bench.clock.now().getTime();
    expect(await plan('plan=true', { replaces: username, oldValidForHours: 24 })).toMatchObject({
      status: 200,
      json: {
        ...{ username: `${partner}.2`, kind: 'scram-sha-512', resumes: false },
        ...{ validUntil: new Date(now + 365 * DAY_MS).toISOString() },
        replaces: { username, until: new Date(now + DAY_MS).toISOString() },
      },
    });
    expect(await plan('plan=true', { replaces: 'nobody' })).toMatchObject({ json: { code: 'account-replaced' } });
    expect(await plan('plan=perhaps', { replaces: username })).toMatchObject({ status: 400 });
    expect(await statesOf(bench, partner)).toEqual({ [username]: 'active' });
    expect(await plan('plan=false', { replaces: username })).toMatchObject({ json: { username: `${partner}.2` } });
  });
});

const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

const auditOf = (username: string) =>
  bench.database.query('SELECT action, caller, partner, reason FROM audit_entry WHERE object = :object ORDER BY id', {
    object: `partner-account/${username}`,
  });
