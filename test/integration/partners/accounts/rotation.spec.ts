import type { Acl } from '../../../../src/messaging/kafka';
import { Rotation } from '../../../../src/partners/accounts/rotation';
import { aclName } from '../../../../src/partners/onboarding/domain/rights';
import { eventually } from '../../../support/eventually';
import { countLockWaiters } from '../../../support/lock-waiters';
import { produce, readAll, uniqueName } from '../../../support/kafka';
import {
  admin,
  answerTopic,
  asAccount,
  type Bench,
  DAY_MS,
  givePartner,
  rotated,
  startBench,
  statesOf,
} from './harness';

let bench: Bench;
beforeAll(async () => {
  bench = await startBench();
});
afterAll(() => bench.close());

const rightsOf = async (username: string): Promise<string[]> =>
  (await bench.security.acls({ principal: `User:${username}` }))
    .map((acl) => aclName({ ...acl, principal: 'it' }))
    .toSorted();

type Gate = PromiseWithResolvers<void>;

/** Ends the connections that hold partners' locks. */
const loseLocks = () =>
  bench.database.query(
    `SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_database d ON d.oid = database
     WHERE locktype = 'advisory' AND datname = current_database() AND pid <> pg_backend_pid()`,
  );

describe('a rotation', () => {
  it('makes another account with the same rights and limits, and both write until the old one ends', async () => {
    const { partner, ...old } = await givePartner(bench);
    const next = await rotated(bench, { partner, replaces: old.username });
    expect(next.username).toBe(`${partner}.2`);
    expect(next.account).toMatchObject({
      state: 'active',
      validUntil: new Date(bench.clock.now().getTime() + 365 * DAY_MS),
    });
    expect(await bench.accounts.find(partner, old.username)).toMatchObject({
      state: 'retiring',
      validUntil: new Date(bench.clock.now().getTime() + 14 * DAY_MS),
    });
    expect(await rightsOf(next.username)).toEqual(await rightsOf(old.username));
    expect(await rightsOf(next.username)).not.toEqual([]);
    expect(await bench.security.quota(next.username)).toEqual(await bench.security.quota(old.username));
    const topic = answerTopic(partner);
    await produce(topic, [{ key: 'k', value: 'by the old one' }], asAccount(bench, old));
    await produce(topic, [{ key: 'k', value: 'by the new one' }], asAccount(bench, next));
    const written = await readAll(topic, { ...asAccount(bench, next), account: bench.kafka.admin });
    expect(written.map(({ value }) => String(value))).toEqual(['by the old one', 'by the new one']);
  });

  it('ends the old account for good at its date: no request, no login, and its number is never used again', async () => {
    const { partner, ...old } = await givePartner(bench);
    const next = await rotated(bench, { partner, oldValidForMs: DAY_MS });
    expect(await bench.retirement.retireDue(admin, partner)).toEqual({ retired: [], failed: [] });
    bench.clock.pass(DAY_MS);
    expect(await bench.retirement.retireDue(admin, partner)).toEqual({ retired: [old.username], failed: [] });
    expect(await statesOf(bench, partner)).toEqual({ [old.username]: 'retired', [next.username]: 'active' });
    expect(await rightsOf(old.username)).toEqual([]);
    expect(await bench.security.users([old.username])).toEqual(new Set());
    expect(await bench.security.quota(old.username)).toEqual({});
    await expect(produce(answerTopic(partner), [{ value: 'x' }], asAccount(bench, old))).rejects.toThrow();
    await produce(answerTopic(partner), [{ value: 'y' }], asAccount(bench, next));
    expect((await rotated(bench, { partner })).username).toBe(`${partner}.3`);
    const owned = await bench.database.query<{ name: string }>(
      `SELECT name FROM partner_resource WHERE partner = :partner AND name LIKE '%' || :old || '%'`,
      { partner, old: old.username },
    );
    expect(owned).toEqual([]);
  });

  it('makes a new secret for the same account when the one before was told to nobody', async () => {
    const { partner, ...old } = await givePartner(bench);
    let lost = '';
    const broken = bench.rotation.rotate({ partner }, admin, async ({ password }) => {
      lost = password ?? '';
      throw new Error('the terminal is gone');
    });
    await expect(broken).rejects.toThrow('the terminal is gone');
    expect(await statesOf(bench, partner)).toEqual({ [old.username]: 'active', [`${partner}.2`]: 'creating' });
    expect(await bench.rotation.plan({ partner })).toMatchObject({ username: `${partner}.2`, resumes: true });
    const next = await rotated(bench, { partner });
    expect(next.username).toBe(`${partner}.2`);
    expect(next.password).not.toBe(lost);
    const topic = answerTopic(partner);
    await produce(topic, [{ value: 'x' }], asAccount(bench, next));
    await expect(produce(topic, [{ value: 'y' }], asAccount(bench, { ...next, password: lost }))).rejects.toThrow();
  });

  it('lets one of two at once through, and says so to the other', async () => {
    const { partner } = await givePartner(bench);
    let meanwhile: unknown;
    await bench.rotation.rotate({ partner }, admin, async () => {
      meanwhile = await bench.rotation
        .rotate({ partner }, admin, async () => undefined)
        .catch((error: unknown) => error);
    });
    expect(meanwhile).toMatchObject({ code: 'partner-busy' });
    expect(Object.keys(await statesOf(bench, partner))).toHaveLength(2);
  });

  it('calls no secret known that another rotation has replaced, when the lock was lost with its connection', async () => {
    const { partner, ...old } = await givePartner(bench);
    const [secondTells, firstEnded] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const told: string[] = [];
    let second: Promise<unknown> = Promise.resolve();
    const first = bench.rotation.rotate({ partner }, admin, async ({ password = '' }) => {
      told.push(password);
      await loseLocks();
      const tell = async ({ password: other = '' }): Promise<void> => {
        told.push(other);
        secondTells.resolve();
        await firstEnded.promise;
      };
      second = eventually(() => bench.rotation.rotate({ partner }, admin, tell));
      await Promise.race([secondTells.promise, second]);
    });
    await expect(first.finally(() => firstEnded.resolve())).rejects.toMatchObject({ code: 'account-exists' });
    await second;
    expect(await statesOf(bench, partner)).toEqual({ [old.username]: 'retiring', [`${partner}.2`]: 'active' });
    const account = { username: `${partner}.2`, password: told[1] ?? '' };
    await produce(answerTopic(partner), [{ value: 'x' }], asAccount(bench, account));
    expect(told).toHaveLength(2);
  });

  it('puts no secret at the broker in place of one that came later, when the lock was lost with its connection', async () => {
    const { partner } = await givePartner(bench);
    const [putting, go, over] = [0, 1, 2].map(() => Promise.withResolvers<void>()) as [Gate, Gate, Gate];
    const slow = Object.assign(Object.create(bench.security) as typeof bench.security, {
      putUser: async (user: { username: string; password: string }) => {
        putting.resolve();
        await go.promise;
        return bench.security.putUser(user);
      },
    });
    const late = new Rotation(bench.database, slow, bench.clock, bench.config);
    const first = late.rotate({ partner }, admin, () => over.promise).catch((error: unknown) => error);
    await putting.promise;
    await loseLocks();
    let done = false;
    const second = eventually(() => rotated(bench, { partner })).finally(() => (done = true));
    // It waits for the first, or has overtaken it.
    await eventually(async () => done || (await countLockWaiters(bench.database)) > 0);
    go.resolve();
    await second.finally(() => over.resolve());
    expect(await first).toMatchObject({ code: 'account-exists' });
    await produce(answerTopic(partner), [{ value: 'x' }], asAccount(bench, await second));
  });

  it('changes nothing when the account that it is to replace was replaced already', async () => {
    const { partner, ...old } = await givePartner(bench);
    await rotated(bench, { partner, replaces: old.username });
    await expect(rotated(bench, { partner, replaces: old.username })).rejects.toMatchObject({
      code: 'account-replaced',
    });
    expect(Object.keys(await statesOf(bench, partner))).toHaveLength(2);
  });

  it('refuses a fourth account that opens the broker', async () => {
    const { partner } = await givePartner(bench);
    await rotated(bench, { partner });
    await rotated(bench, { partner });
    await expect(rotated(bench, { partner })).rejects.toMatchObject({
      ...{
        code: 'accounts-too-many',
        hint: expect.stringContaining(`rotate ${partner} --retire-now "${partner}.1"`) as string,
      },
    });
    await bench.retirement.retire(partner, `${partner}.1`, admin);
    expect((await rotated(bench, { partner })).username).toBe(`${partner}.4`);
  });

  it('leaves a user alone that Parley did not make', async () => {
    const { partner } = await givePartner(bench);
    const foreign = { username: `${partner}.2`, password: 'somebody-elses' };
    await bench.security.putUser(foreign);
    for (const refused of [() => bench.rotation.plan({ partner }), () => rotated(bench, { partner })])
      await expect(refused()).rejects.toMatchObject({ code: 'account-foreign' });
    await bench.security.addAcls([
      {
        ...{ principal: `User:${foreign.username}`, resource: 'topic', name: answerTopic(partner) },
        ...{ pattern: 'literal', operation: 'Write', permission: 'allow', host: '*' },
      },
    ]);
    await produce(answerTopic(partner), [{ value: 'x' }], asAccount(bench, foreign));
    expect(
      await bench.database.query(`SELECT 1 FROM partner_resource WHERE kind = 'user' AND name = :name`, {
        name: foreign.username,
      }),
    ).toEqual([]);
  });

  it('gives a certificate the rights in place of an account, beside the one before', async () => {
    const [first, second] = [`CN=${uniqueName('acme')}`, `CN=${uniqueName('acme')}`] as const;
    const { partner } = await givePartner(bench, { authentication: { type: 'tls', subject: first } });
    await expect(rotated(bench, { partner })).rejects.toMatchObject({ code: 'subject-missing' });
    expect(await statesOf(bench, partner)).toEqual({ [first]: 'active' });
    for (const subject of [bench.config.kafkaSaslUsername, bench.config.kafkaAdminUsername, 'umbra.1', 'ANONYMOUS'])
      await expect(rotated(bench, { partner, subject })).rejects.toMatchObject({ code: 'subject-unfit' });
    const [withPassword, withRights] = [uniqueName('billing'), uniqueName('CN=billing')];
    await bench.security.putUser({ username: withPassword, password: 'somebody-elses' });
    await bench.security.addAcls([
      {
        ...{ principal: `User:${withRights}`, resource: 'topic', name: 'invoices' },
        ...{ pattern: 'literal', operation: 'Write', permission: 'allow', host: '*' },
      },
    ]);
    for (const subject of [withPassword, withRights])
      for (const refused of [bench.rotation.plan({ partner, subject }), rotated(bench, { partner, subject })])
        await expect(refused).rejects.toMatchObject({ code: 'account-foreign' });
    expect(await statesOf(bench, partner)).toEqual({ [first]: 'active' });
    await rotated(bench, { partner, subject: second });
    expect(await statesOf(bench, partner)).toEqual({ [first]: 'retiring', [second]: 'active' });
    expect(await rightsOf(second)).toEqual(await rightsOf(first));
    const renewed = { partner, subject: first };
    const hint = expect.stringContaining('renewed under the same subject needs nothing') as string;
    for (const refused of [() => bench.rotation.plan(renewed), () => rotated(bench, renewed)])
      await expect(refused()).rejects.toMatchObject({ code: 'account-exists', hint });
    await bench.retirement.retire(partner, first, admin);
    expect(await rightsOf(first)).toEqual([]);
    expect(await rightsOf(second)).not.toEqual([]);
  });

  it('leaves to the holder of a certificate what others let it do', async () => {
    const [first, second] = [`CN=${uniqueName('acme')}`, `CN=${uniqueName('acme')}`] as const;
    const { partner } = await givePartner(bench, { authentication: { type: 'tls', subject: first } });
    await rotated(bench, { partner, subject: second });
    const foreign: Acl = {
      ...{ principal: `User:${first}`, resource: 'topic', name: uniqueName('of-others'), pattern: 'literal' },
      ...{ operation: 'Read', permission: 'allow', host: '*' },
    };
    await bench.security.addAcls([foreign]);
    await bench.disabling.disable(partner, first, admin);
    await bench.retirement.retire(partner, first, admin);
    expect(await rightsOf(first)).toEqual([aclName({ ...foreign, principal: 'it' })]);
    await bench.security.deleteAcls([foreign]);
  });

  it('ends neither the account that new clients get nor one of another partner', async () => {
    const [{ partner, username }, theirs] = [await givePartner(bench), await givePartner(bench)];
    await expect(bench.retirement.retire(partner, username, admin)).rejects.toMatchObject({
      code: 'account-in-use',
    });
    await expect(bench.retirement.retire(partner, theirs.username, admin)).rejects.toMatchObject({
      code: 'account-unknown',
    });
    await produce(answerTopic(theirs.partner), [{ value: 'x' }], asAccount(bench, theirs));
  });
});
