import { Ajv } from 'ajv';
import { dump, load } from 'js-yaml';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { specOf, type StrimziResource, strimziResources } from '../../../../src/partners/onboarding';
import { CRDS } from './strimzi-crds';

const DEFAULTS = {
  ...{ kafkaReplicationFactor: 3, kafkaTopicRetentionHours: 168, inboxRetentionHours: 720 },
  ...{ kafkaSaslUsername: 'parley', kafkaAdminUsername: 'admin' },
};
const PARTS = {
  cluster: 'prod',
  accounts: [{ partner: 'acme', username: 'acme.1', kind: 'scram-sha-512' as const }],
  parley: { username: 'parley', consumerGroup: 'parley' },
  channels: [{ topic: 'orders.umbra.response.v1', direction: 'in' as const }],
};
const of = (kind: 'scram-sha-512' | 'tls', ...usernames: string[]) =>
  usernames.map((username) => ({ partner: 'acme', username, kind }));
const golden = join(__dirname, 'acme.strimzi.yaml');

const resources = (file: object = {}, parts: object = {}): StrimziResource[] =>
  strimziResources(specOf({ partner: 'acme', ...file }, DEFAULTS), { ...PARTS, ...parts });
const userCalled = (name: string, among: readonly StrimziResource[]) =>
  among.find(({ kind, metadata }) => kind === 'KafkaUser' && metadata.name === name);

describe('a partner as resources of Strimzi', () => {
  it('is what it is at the broker', () => {
    const yaml = resources().map((resource) => `---\n${dump(resource, { lineWidth: 120, noRefs: true })}`);
    expect(yaml.join('')).toBe(readFileSync(golden, 'utf8'));
  });

  it.each([
    ['with a password', {}, {}],
    [
      'with a certificate and without limits',
      { authentication: { type: 'tls', subject: 'CN=acme' }, quotas: noLimits() },
      { accounts: of('tls', 'CN=acme') },
    ],
    ['with two accounts', {}, { accounts: of('scram-sha-512', 'acme.1', 'acme.2') }],
    ['at a broker without accounts', {}, { parley: undefined }],
  ])('follows the schemas of its resources: %s', (_, file, parts) => {
    for (const resource of resources(file, parts)) {
      const ajv = new Ajv({ strict: false, allErrors: true });
      const validate = ajv.compile(CRDS[resource.kind]);
      expect([resource.metadata.name, validate(load(dump(resource))), validate.errors]).toEqual([
        ...[resource.metadata.name, true, null],
      ]);
    }
  });

  it('has every account of the partner, each with the same rights', () => {
    const found = resources({}, { accounts: of('scram-sha-512', 'acme.1', 'acme.2') });
    expect(userCalled('acme.2', found)?.spec).toEqual(userCalled('acme.1', found)?.spec);
  });

  it('lets each account come as it does, whatever the file says of the one that is next', () => {
    const tls = { authentication: { type: 'tls', subject: 'CN=acme' } };
    const found = resources(tls, { accounts: [...of('scram-sha-512', 'acme.1'), ...of('tls', 'CN=acme')] });
    expect(userCalled('acme.1', found)?.spec).toMatchObject({ authentication: { type: 'scram-sha-512' } });
    expect(userCalled('acme', found)?.spec).toMatchObject({ authentication: { type: 'tls-external' } });
  });

  it('gives Parley its rights for all partners in one list', () => {
    const acls = JSON.stringify(userCalled('parley', resources())?.spec);
    expect(acls).toContain('orders.umbra.response.v1-dlt');
    expect(acls).toContain('orders.acme.request.v1');
  });

  it('refuses a subject that Strimzi cannot name', () => {
    const tls = { authentication: { type: 'tls', subject: 'CN=acme,O=Acme Ltd' } };
    expect(() => resources(tls, { accounts: of('tls', 'CN=acme,O=Acme Ltd') })).toThrow(
      expect.objectContaining({ code: 'strimzi-subject-unfit' }) as Error,
    );
  });
});

function noLimits() {
  return { producerBytesPerSecond: 0, consumerBytesPerSecond: 0, requestPercent: 0 };
}
