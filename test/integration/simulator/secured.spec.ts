import 'reflect-metadata';
import { DataSource } from 'typeorm';
import { Database } from '../../../src/platform/database';
import type { Account } from '../../../src/simulator/access';
import { certify } from '../../../src/simulator/certification/certify';
import { testConfig } from '../../support/config';
import { freshDatabase } from '../../support/database';
import { eventually } from '../../support/eventually';
import { asAdministrator, asParley, doorOf, guardedKafka } from '../../support/guarded-kafka';
import { readAll, uniqueName, withAdmin } from '../../support/kafka';
import { onboard } from '../../support/partners';
import { right } from '../../support/topic-faults';
import { PATIENCE } from './certifying';
import { start } from './fixture';

let url: string;
let database: Database;
beforeAll(async () => {
  url = await freshDatabase();
  database = new Database(await new DataSource({ type: 'postgres', url, installExtensions: false }).initialize());
});
afterAll(() => database.dataSource.destroy());

const scram = (credentials: Account['credentials']): Account => ({ mechanism: 'SCRAM-SHA-512', credentials });

/** A partner as onboarding leaves it, and how each side gets in. */
async function onboarded() {
  const kafka = guardedKafka();
  const partner = uniqueName('acme');
  const config = testConfig(url, { ...asParley(kafka), ...asAdministrator(kafka) });
  const { account } = await onboard(database, config, { partner, format: 'json', partitions: 2 });
  const own = { username: account?.username ?? '', password: account?.password ?? '' };
  const reach = { brokers: [kafka.brokers], tls: { ca: kafka.caFile } };
  const admin = doorOf(kafka, kafka.admin);
  return {
    ...{ partner, own, reach, admin },
    certified: () =>
      certify(
        {
          ...{ ...reach, account: scram(() => kafka.parley), registry: undefined },
          ...{ party: { id: partner, format: 'json' }, isAlone: true, runs: 1 },
          partnerAccess: { ...reach, account: scram(() => own), registry: undefined },
          patience: PATIENCE,
        },
        { onResult: () => undefined, log: () => undefined },
      ),
  };
}

describe('a partner at a broker that is guarded', () => {
  it('is certified by us under our own account, which needs no right beyond what onboarding gives', async () => {
    const { partner, own, reach, certified } = await onboarded();
    start(partner, { ...reach, account: scram(() => own) });
    const { results } = await certified();
    expect(results.filter(({ verdict }) => verdict === 'failed')).toEqual([]);
    expect(results.find(({ name }) => name === 'acl')).toMatchObject({
      verdict: 'passed',
      seen: [
        "it can't write orders to itself",
        "it can't write its own error reports",
        "it can't see another partner's topic",
        "it can't see its dead letters",
        "it can't make a topic",
        "it can't use a foreign consumer group",
      ],
    });
  });

  it('fails an account that may make topics, also where it may not delete them again', async () => {
    const { partner, own, reach, admin, certified } = await onboarded();
    start(partner, { ...reach, account: scram(() => own) });
    const creating = right(own.username, 'CLUSTER', 'kafka-cluster', 'CREATE');
    await withAdmin(admin, (client) => client.createAcls({ creations: [creating] }));
    const { results } = await certified();
    const acl = results.find(({ name }) => name === 'acl');
    expect(acl).toMatchObject({ verdict: 'failed', seen: expect.arrayContaining(['it can make a topic']) as string[] });
  });

  it('answers under its account, by whose name the broker knows its clients', async () => {
    const { partner, own, reach, admin, certified } = await onboarded();
    start(partner, { ...reach, account: scram(() => own) });
    await certified();
    const groups = await withAdmin(admin, (client) =>
      client.describeGroups({ groups: [`partner.${partner}.simulator`] }),
    );
    const clients = [...groups.values()].flatMap(({ members }) => [...members.values()]);
    expect(clients.map(({ clientId }) => clientId.startsWith(own.username))).toEqual([true]);
    expect((await readAll(`orders.${partner}.response.v1`, admin)).length).toBeGreaterThan(10);
  });

  it('says that its password is wrong, and comes in when it is mended', async () => {
    const { partner, own, reach, certified } = await onboarded();
    let password = 'wrong';
    const said: string[] = [];
    start(partner, { ...reach, account: scram(() => ({ ...own, password })) }, (line) => said.push(line));
    await eventually(() => said.some((line) => line.includes('refuses the account or its password')));
    password = own.password;
    const { results } = await certified();
    expect(results[0]).toMatchObject({ name: 'connect', verdict: 'passed' });
  });
});
