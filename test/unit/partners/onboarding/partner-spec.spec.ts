import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PARTNER_FILE_SCHEMA, parsePartnerFile, specOf } from '../../../../src/partners/onboarding';
import type { AppError } from '../../../../src/platform/errors';

const DEFAULTS = {
  ...{ kafkaReplicationFactor: 3, kafkaTopicRetentionHours: 168, inboxRetentionHours: 720 },
  ...{ kafkaSaslUsername: 'parley', kafkaAdminUsername: 'admin' },
};
const docs = (file: string) => readFileSync(join(__dirname, '../../../../docs/partners', file), 'utf8');

const violationsOf = (document: unknown): [string, string][] => {
  try {
    specOf(document, DEFAULTS);
  } catch (error) {
    expect(error).toMatchObject({ code: 'partner-spec-invalid', retriable: false });
    return (error as AppError).violations.map(({ pointer, detail }) => [pointer, detail]);
  }
  return [];
};

describe("a partner's file", () => {
  it('needs its partner and nothing else', () => {
    expect(specOf({ partner: 'acme' }, DEFAULTS)).toEqual({
      ...{ partner: 'acme', name: 'acme', format: 'avro', partitions: 6, allowMissingId: false, credentialDays: 365 },
      topics: { retentionHours: 168, replicationFactor: 3, minInsyncReplicas: 2, maxMessageBytes: 1_048_588 },
      authentication: { type: 'scram-sha-512' },
      quotas: { producerBytesPerSecond: 2_097_152, consumerBytesPerSecond: 8_388_608, requestPercent: 100 },
    });
  });

  it('is shown by an example that says the defaults', () => {
    const shown = parsePartnerFile(docs('acme.yaml'));
    expect(specOf(shown, DEFAULTS)).toEqual({ ...specOf({ partner: 'acme' }, DEFAULTS), name: 'Acme Ltd' });
    const members = Object.keys(PARTNER_FILE_SCHEMA['properties'] as object);
    expect(Object.keys(shown as object).toSorted()).toEqual(members.toSorted());
  });

  it('has its schema among the documents, as it is checked', () => {
    expect(JSON.parse(docs('partner.schema.json'))).toEqual(PARTNER_FILE_SCHEMA);
  });

  it('has as many copies in sync as there can be, where one broker keeps one copy', () => {
    expect(specOf({ partner: 'acme', topics: { replicationFactor: 1 } }, DEFAULTS).topics.minInsyncReplicas).toBe(1);
  });

  it('is told all that is wrong with it, each with its place', () => {
    const wrong = {
      ...{
        apiVersion: 'v2',
        partner: 'Acme',
        name: '',
        format: 'xml',
        partitions: 0,
        allowMissingId: 'no',
        owner: 'me',
      },
      topics: { retentionHours: 0, replicationFactor: 16, minInsyncReplicas: 1.5, maxMessageBytes: '1', segments: 3 },
      authentication: { type: 'plain' },
      quotas: { producerBytesPerSecond: -1 },
      credentialDays: 4000,
    };
    expect(Object.fromEntries(violationsOf(wrong))).toEqual({
      '/owner': 'is not a member that exists here',
      '/apiVersion': 'must be one of parley/v1',
      '/partner': 'must be a lower-case letter, then up to 31 lower-case letters, digits or dashes',
      '/name': 'must be 1 to 200 printable characters',
      '/format': 'must be one of avro, protobuf, json-schema, json',
      '/partitions': 'must be >= 1',
      '/allowMissingId': 'must be boolean',
      '/topics/segments': 'is not a member that exists here',
      '/topics/retentionHours': 'must be >= 1',
      '/topics/replicationFactor': 'must be <= 15',
      '/topics/minInsyncReplicas': 'must be integer',
      '/topics/maxMessageBytes': 'must be integer',
      '/authentication/type': 'must be one of scram-sha-512, tls',
      '/quotas/producerBytesPerSecond': 'must be >= 0',
      '/credentialDays': 'must be <= 3650',
    });
  });

  it.each([
    ['no object', [], ''],
    ['no partner', {}, '/partner'],
    ['a certificate of nobody', { partner: 'acme', authentication: { type: 'tls' } }, '/authentication/subject'],
    [
      'a subject beside a password',
      { partner: 'acme', authentication: { type: 'scram-sha-512', subject: 'CN=acme' } },
      '/authentication/subject',
    ],
    [
      'a subject that is the name of an account',
      { partner: 'acme', authentication: { type: 'tls', subject: 'umbra.1' } },
      '/authentication/subject',
    ],
    [
      "a subject that is Parley's own account",
      { partner: 'acme', authentication: { type: 'tls', subject: 'parley' } },
      '/authentication/subject',
    ],
    [
      'a subject that everybody without an account has',
      { partner: 'acme', authentication: { type: 'tls', subject: 'ANONYMOUS' } },
      '/authentication/subject',
    ],
    [
      'a subject that means everybody',
      { partner: 'acme', authentication: { type: 'tls', subject: '*' } },
      '/authentication/subject',
    ],
    [
      'more copies in sync than there are',
      { partner: 'acme', topics: { replicationFactor: 2, minInsyncReplicas: 3 } },
      '/topics/minInsyncReplicas',
    ],
    [
      'a topic that remembers longer than we do',
      { partner: 'acme', topics: { retentionHours: 697 } },
      '/topics/retentionHours',
    ],
  ])('is refused with %s', (_, document, pointer) => {
    expect(violationsOf(document).map(([place]) => place)).toEqual([pointer]);
  });

  it.each([
    ['no YAML', 'partner: [acme'],
    ['two documents', 'partner: acme\n---\npartner: umbra\n'],
    ['one member twice', 'partner: acme\npartner: umbra\n'],
    ['an alias, of which a few make any size', 'a: &a [1]\nb: *a\n'],
    ['more than a file has', `name: "${'x'.repeat(70_000)}"`],
    ['nothing', ''],
  ])('is refused as text with %s', (_, text) => {
    expect(() => parsePartnerFile(text)).toThrow(expect.objectContaining({ code: 'partner-file-unreadable' }) as Error);
  });
});
