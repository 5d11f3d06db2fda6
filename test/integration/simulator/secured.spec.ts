import type { Account } from '../../../src/simulator/access';
import { eventually } from '../../support/eventually';
import { doorOf, guardedKafka } from '../../support/guarded-kafka';
import { produce, uniqueName, withAdmin } from '../../support/kafka';
import { giveRights } from '../../support/rights-by-hand';
import { answersOn, requestFor, start, topicsOf } from './fixture';

const channelsOf = ({ requests, responses, advices, receipts, errors }: Awaited<ReturnType<typeof topicsOf>>) => [
  ...[requests, receipts, errors].map((topic) => ({ topic, direction: 'out' as const })),
  ...[responses, advices].map((topic) => ({ topic, direction: 'in' as const })),
];

async function prepared(id: string) {
  const kafka = guardedKafka();
  const topics = await topicsOf(id);
  const own = await giveRights(kafka, id, 'parley-tests', channelsOf(topics));
  const account: Account = { mechanism: 'SCRAM-SHA-512', credentials: () => own };
  return { ...topics, own, options: { brokers: [kafka.brokers], tls: { ca: kafka.caFile }, account } };
}

describe('a partner at a broker that is guarded', () => {
  it('answers under its account, by whose name the broker knows its clients', async () => {
    const kafka = guardedKafka();
    const id = uniqueName('acme');
    const { requests, responses, own, options } = await prepared(id);
    const partner = start(id, options);
    await produce(requests, [requestFor('A-1')]);
    await eventually(() => partner.statistics.answered === 1, { timeout: 20_000 });
    expect(await answersOn(responses)).toEqual(['A-1:AP']);
    const groups = await withAdmin(doorOf(kafka, kafka.admin), (admin) =>
      admin.describeGroups({ groups: [`partner.${id}.simulator`] }),
    );
    const clients = [...groups.values()].flatMap(({ members }) => [...members.values()]);
    expect(clients.map(({ clientId }) => clientId.startsWith(own.username))).toEqual([true]);
  });

  it('says that its password is wrong, and comes in when it is mended', async () => {
    const id = uniqueName('acme');
    const { requests, own, options } = await prepared(id);
    let password = 'wrong';
    const account: Account = { mechanism: 'SCRAM-SHA-512', credentials: () => ({ ...own, password }) };
    const said: string[] = [];
    const partner = start(id, { ...options, account }, (line) => said.push(line));
    await produce(requests, [requestFor('A-1')]);
    await eventually(() => said.some((line) => line.includes('refuses the account or its password')), { timeout: 20_000 });
    password = own.password;
    await eventually(() => partner.statistics.answered === 1, { timeout: 20_000 });
  });
});
