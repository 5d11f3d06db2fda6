import type { Acl } from '../../../../src/messaging/kafka';
import { denials } from '../../../../src/partners/accounts/disabling';
import { uniqueName } from '../../../support/kafka';
import { admin, type Bench, givePartner, rotated, startBench } from './harness';

let bench: Bench;
beforeAll(async () => {
  bench = await startBench();
});
afterAll(() => bench.close());

const rulesOf = async (username: string): Promise<string[]> =>
  namesOf(await bench.security.acls({ principal: `User:${username}` }));
const namesOf = (acls: readonly Acl[]): string[] =>
  acls.map(({ resource, name, operation, permission }) => [permission, operation, resource, name].join(' ')).toSorted();

describe('what an administrator has denied an account', () => {
  it('stays denied when the account is enabled that Parley did not disable', async () => {
    const { partner, username } = await givePartner(bench);
    await bench.security.addAcls(denials(username));
    const before = await rulesOf(username);
    expect(await bench.disabling.enable(partner, username, admin)).toMatchObject({ username, disabledAt: null });
    expect(await rulesOf(username)).toEqual(before);
  });

  it('stays denied to the holder of a certificate that is retired, unless Parley had disabled it', async () => {
    for (const disabled of [false, true]) {
      const subject = `CN=${uniqueName('acme')}`;
      const { partner } = await givePartner(bench, { authentication: { type: 'tls', subject } });
      await rotated(bench, { partner, subject: `CN=${uniqueName('acme')}` });
      if (disabled) await bench.disabling.disable(partner, subject, admin);
      else await bench.security.addAcls(denials(subject));
      await bench.retirement.retire(partner, subject, admin);
      expect([disabled, await rulesOf(subject)]).toEqual([disabled, disabled ? [] : namesOf(denials(subject))]);
    }
  });
});
