import { Consumer } from '@platformatic/kafka';
import { readFileSync } from 'node:fs';
import { Metrics } from '../../../../src/health';
import { AccountKeeper } from '../../../../src/partners/accounts/account-keeper';
import type { Config } from '../../../../src/platform/config';
import { ifFree } from '../../../../src/platform/database';
import { eventually } from '../../../support/eventually';
import { closing, closeAll, recordingLogger } from '../../kafka/fixtures';
import { type Bench, DAY_MS, givePartner, rotated, startBench, statesOf } from './harness';

let bench: Bench;
beforeAll(async () => {
  bench = await startBench();
});
afterEach(() => closeAll(), 30_000);
afterAll(() => bench.close());

function keeperOf(change: Partial<Config> = {}) {
  const { logger, lines } = recordingLogger('info');
  const metrics = new Metrics();
  // Spread, not as it is: a test needs no secret that follows a file.
  const config: Config = { ...bench.config, ...change };
  const keeper = new AccountKeeper(bench.database, config, bench.clock, metrics, logger);
  const gauge = async (name: string, partner: string): Promise<number | undefined> => {
    const text = await metrics.registry.metrics();
    const line = text.split('\n').find((one) => one.startsWith(`${name}{`) && one.includes(`partner="${partner}"`));
    return line === undefined ? undefined : Number(line.split(' ').at(-1));
  };
  const said = (account: string) => lines.filter((line) => line['account'] === account).map(({ code }) => code);
  return { keeper, lines, gauge, said };
}

const NO_ADMINISTRATOR = { kafkaAdminUsername: '', kafkaAdminPassword: '' };

describe('what looks after accounts', () => {
  it('ends an account at its date, and not before', async () => {
    const { partner, username } = await givePartner(bench);
    const next = await rotated(bench, { partner, oldValidForMs: DAY_MS });
    const { keeper } = keeperOf();
    await keeper.look();
    expect(await statesOf(bench, partner)).toEqual({ [username]: 'retiring', [next.username]: 'active' });
    bench.clock.pass(DAY_MS);
    await keeper.look();
    expect(await statesOf(bench, partner)).toEqual({ [username]: 'retired', [next.username]: 'active' });
    expect(await bench.security.users([username])).toEqual(new Set());
    const [entry] = await bench.database.query<Record<string, unknown>>(
      `SELECT caller, reason FROM audit_entry WHERE object = :object AND action = 'partner-account.retire'`,
      { object: `partner-account/${username}` },
    );
    expect(entry).toEqual({ caller: 'parley', reason: 'its date has passed' });
  });

  it('shows as overdue, in a gauge and once a day in the log, what nobody could end', async () => {
    const { partner, username } = await givePartner(bench);
    await rotated(bench, { partner, oldValidForMs: DAY_MS });
    const { keeper, gauge, said } = keeperOf(NO_ADMINISTRATOR);
    await keeper.look();
    expect(await gauge('parley_partner_accounts_overdue', partner)).toBe(0);
    bench.clock.pass(DAY_MS + 3_600_000);
    await keeper.look();
    await keeper.look();
    expect(await gauge('parley_partner_accounts_overdue', partner)).toBe(1);
    expect(said(username)).toEqual(['account-overdue']);
    bench.clock.pass(DAY_MS);
    await keeper.look();
    expect(said(username)).toEqual(['account-overdue', 'account-overdue']);
    await keeperOf().keeper.look();
    await keeper.look();
    expect(await gauge('parley_partner_accounts_overdue', partner)).toBe(0);
  });

  it('warns of credentials that expire, once a day, and cuts nobody off who uses them', async () => {
    const { partner, username } = await givePartner(bench, { credentialDays: 60 });
    const { validUntil } = await bench.accounts.find(partner, username);
    const { keeper, gauge, said } = keeperOf();
    await keeper.look();
    expect(said(username)).toEqual([]);
    expect(await gauge('parley_partner_credential_expires_timestamp_seconds', partner)).toBe(
      (validUntil?.getTime() ?? 0) / 1000,
    );
    bench.clock.pass(30 * DAY_MS);
    await keeper.look();
    // Another process, the same day.
    const other = keeperOf();
    await other.keeper.look();
    expect([...said(username), ...other.said(username)]).toEqual(['account-expires-soon']);
    bench.clock.pass(30 * DAY_MS);
    await keeper.look();
    expect(said(username)).toEqual(['account-expires-soon', 'account-expired']);
    expect(await statesOf(bench, partner)).toEqual({ [username]: 'active' });
    expect(await bench.security.users([username])).toEqual(new Set([username]));
  });

  it('notes the accounts by whose name members of their groups call themselves, and no others', async () => {
    const { partner, ...old } = await givePartner(bench);
    const next = await rotated(bench, { partner });
    const member = (login: { username: string; password: string }, clientId: string) =>
      closing(
        new Consumer({
          clientId,
          groupId: `partner.${partner}.reader-${clientId}`,
          bootstrapBrokers: bench.kafka.brokers.split(','),
          tls: { ca: readFileSync(bench.kafka.caFile) },
          sasl: { mechanism: 'SCRAM-SHA-512', ...login },
        }),
      );
    const stream = await member(
      { username: next.username, password: next.password },
      `${next.username}-warehouse`,
    ).consume({ topics: [`orders.${partner}.request.v1`] });
    closing({ close: async () => void (await stream.close()) });
    // Whoever calls itself otherwise is not seen, under whichever account it came in.
    const hidden = await member({ username: old.username, password: old.password }, 'warehouse').consume({
      topics: [`orders.${partner}.request.v1`],
    });
    closing({ close: async () => void (await hidden.close()) });
    await eventually(async () => (await bench.security.membersOf(`partner.${partner}.`)).length === 2);
    await keeperOf().keeper.look();
    expect(await bench.accounts.find(partner, next.username)).toMatchObject({
      lastSeenAt: bench.clock.now(),
      lastSeenFrom: expect.stringMatching(/^(127\.0\.0\.1|::1)$/) as string,
    });
    expect(await bench.accounts.find(partner, old.username)).toMatchObject({ lastSeenAt: null, lastSeenFrom: null });
  });

  it('leaves the broker to the one process that is at it', async () => {
    const { partner, username } = await givePartner(bench);
    await rotated(bench, { partner, oldValidForMs: DAY_MS });
    bench.clock.pass(DAY_MS);
    await ifFree(bench.database, 'account-keeper', async () => {
      await keeperOf().keeper.look();
      expect((await statesOf(bench, partner))[username]).toBe('retiring');
    });
    await keeperOf().keeper.look();
    expect((await statesOf(bench, partner))[username]).toBe('retired');
  });

  it('goes on with the others where one cannot be ended, and ends that one later', async () => {
    const [one, other] = [await givePartner(bench), await givePartner(bench)];
    for (const { partner } of [one, other]) await rotated(bench, { partner, oldValidForMs: DAY_MS });
    bench.clock.pass(DAY_MS);
    // Somebody changes this partner meanwhile.
    await ifFree(bench.database, `partner/${one.partner}`, async () => {
      await expect(keeperOf().keeper.look()).rejects.toThrow(new RegExp(`${one.username}: Somebody else`));
    });
    expect((await statesOf(bench, one.partner))[one.username]).toBe('retiring');
    expect((await statesOf(bench, other.partner))[other.username]).toBe('retired');
    await keeperOf().keeper.look();
    expect((await statesOf(bench, one.partner))[one.username]).toBe('retired');
  });

  it('says once what keeps it from its work, and lets the process end meanwhile', async () => {
    const { keeper, lines } = keeperOf({ kafkaAdminPassword: 'a-wrong-one' });
    keeper.onApplicationBootstrap();
    await eventually(() => lines.some(({ msg }) => String(msg).includes('could not be looked after')), {
      timeout: 50_000,
    });
    await keeper.beforeApplicationShutdown();
    expect(JSON.stringify(lines)).not.toContain('a-wrong-one');
  });
});
