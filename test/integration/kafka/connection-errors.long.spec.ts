import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Authority, makeAuthority, type SecureKafka, startKafka } from '../../../scripts/servers/index.mjs';
import {
  createKafkaAdmin,
  createLanePublisher,
  createSecurityAdmin,
  type KafkaSettings,
} from '../../../src/messaging/kafka';
import { sleep } from '../../../src/platform/polling';
import { eventually } from '../../support/eventually';
import { createTopic, uniqueName } from '../../support/kafka';
import { startTcpProxy } from '../../support/tcp-proxy';
import { startTlsFront } from '../../support/tls-front';
import {
  closeAll,
  closing,
  failureOf,
  quiet,
  recordingLogger,
  records,
  secureSettings,
  settingsFor,
  startSource,
} from './fixtures';

const folder = mkdtempSync(join(tmpdir(), 'parley-tls-'));
const foreign = {
  ca: join(folder, 'ca.pem'),
  kafkaCertFile: join(folder, 'parley.pem'),
  kafkaKeyFile: join(folder, 'parley.key'),
};
let kafka: SecureKafka;
/** An authority that the broker doesn't know. */
let authority: Authority;

beforeAll(async () => {
  kafka = await startKafka({ secure: true, open: true, mtls: true });
  authority = await makeAuthority('another');
  writeFileSync(foreign.ca, authority.pem);
  const { cert, key } = await authority.issue('parley');
  writeFileSync(foreign.kafkaCertFile, cert);
  writeFileSync(foreign.kafkaKeyFile, key);
});
afterEach(() => closeAll());
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await kafka.stop();
});

const scram = (change: Partial<KafkaSettings> = {}): KafkaSettings => ({
  ...secureSettings(kafka, kafka.admin),
  ...change,
});
const mtls = (change: Partial<KafkaSettings> = {}): KafkaSettings => ({
  ...settingsFor(kafka.mtlsBrokers),
  kafkaSsl: true,
  kafkaCaFile: kafka.caFile,
  ...change,
});
async function issued(name: string, expired = false): Promise<Partial<KafkaSettings>> {
  const files = await kafka.issueClient?.(name, { expired });
  return { kafkaCertFile: files?.certFile ?? '', kafkaKeyFile: files?.keyFile ?? '' };
}
/** A broker whose certificate is this one. */
async function broker(options: { expired?: boolean; hosts?: string[] }): Promise<KafkaSettings> {
  const port = Number(kafka.internalBrokers.split(':')[1]);
  const front = closing(await startTlsFront({ port }, await authority.issue('broker', options)));
  return scram({ kafkaBrokers: [front.address], kafkaCaFile: foreign.ca });
}

type Case = [what: string, settings: () => KafkaSettings | Promise<KafkaSettings>, code: string, says: RegExp];
const CASES: Case[] = [
  [
    'a wrong password',
    () => scram({ kafkaSaslPassword: 'a-wrong-secret' }),
    'authentication-failed',
    /name and password.*KAFKA_SASL_USERNAME/,
  ],
  [
    'an unknown account',
    () => scram({ kafkaSaslUsername: 'nobody', kafkaSaslPassword: 'a-guessed-secret' }),
    'authentication-failed',
    /name and password/,
  ],
  [
    'a mechanism that the broker does not take',
    () => scram({ kafkaSaslMechanism: 'scram-sha-256' }),
    'sasl-mechanism-refused',
    /KAFKA_SASL_MECHANISM/,
  ],
  [
    'a port that asks for no account',
    () => scram({ kafkaSsl: false, kafkaBrokers: [kafka.openBrokers ?? ''] }),
    'sasl-not-expected',
    /asks for no account/,
  ],
  [
    'a certificate of an authority that is not ours',
    () => scram({ kafkaCaFile: foreign.ca }),
    'broker-certificate-untrusted',
    /KAFKA_CA_FILE/,
  ],
  [
    'a certificate of no public authority',
    () => scram({ kafkaCaFile: '' }),
    'broker-certificate-untrusted',
    /KAFKA_CA_FILE/,
  ],
  ['an expired certificate', () => broker({ expired: true }), 'broker-certificate-expired', /not valid today/],
  [
    "another host's certificate",
    () => broker({ hosts: ['kafka.example'] }),
    'broker-host-mismatch',
    /another host \(localhost.*kafka\.example.*KAFKA_BROKERS/,
  ],
  [
    'a port with TLS, with an account and without TLS',
    () => scram({ kafkaSsl: false }),
    'tls-expected',
    /KAFKA_SSL=true/,
  ],
  ['a port with TLS, without TLS', () => settingsFor(kafka.brokers), 'tls-expected', /KAFKA_SSL=true/],
  [
    'a port without TLS, with TLS',
    () => scram({ kafkaBrokers: [kafka.internalBrokers] }),
    'tls-not-spoken',
    /KAFKA_SSL=false/,
  ],
  ['a port that asks for our certificate', () => mtls(), 'client-certificate-refused', /KAFKA_CERT_FILE/],
  [
    'an expired certificate of ours',
    async () => mtls(await issued('parley', true)),
    'client-certificate-refused',
    /valid today/,
  ],
  [
    'a certificate of ours that the broker does not trust',
    () => mtls({ kafkaCertFile: foreign.kafkaCertFile, kafkaKeyFile: foreign.kafkaKeyFile }),
    'client-certificate-refused',
    /authority that the broker trusts/,
  ],
];

describe('what keeps a client out is said, with what to set', () => {
  it.each(CASES)('%s', async (_what, make, code, says) => {
    const settings = await make();
    const { logger, lines } = recordingLogger('trace');
    const lanes = closing(createLanePublisher(settings, logger, 'test'));
    const publishing = await failureOf(lanes.send({ topic: 'any', partition: 0, records: records('a', 1) }));
    expect(publishing).toMatchObject({ code, outcome: 'refused', retriable: true });
    const administering = await failureOf(closing(createKafkaAdmin(settings)).existing(['any']));
    expect(administering).toMatchObject({ code, retriable: true });
    const { source } = startSource({ topics: ['any'], settings, logger });
    await eventually(() => source.trouble);
    expect(source.state).toBe('starting');
    expect(lines.find((line) => line['code'] === code && line['level'] === 40)).toBeTruthy();
    for (const words of [publishing.message, administering.message, source.trouble]) expect(words).toMatch(says);
    const told = JSON.stringify(lines) + publishing.message + administering.message + source.trouble;
    for (const secret of [settings.kafkaSaslPassword, kafka.admin.password].filter(Boolean)) {
      expect(told).not.toContain(secret);
      expect(told).not.toContain(Buffer.from(secret).toString('base64'));
    }
  });
});

it('a hundred lanes that are refused make no more attempts than one', async () => {
  const wire = closing(await startTcpProxy({ port: kafka.port }));
  const settings = scram({ kafkaBrokers: [`localhost:${wire.port}`], kafkaSaslPassword: 'a-wrong-secret' });
  const lanes = closing(createLanePublisher(settings, quiet, 'test'));
  const until = Date.now() + 10_000;
  const codes = new Set<string>();
  const lane = async (partition: number) => {
    while (Date.now() < until) {
      codes.add((await failureOf(lanes.send({ topic: 'any', partition, records: records('a', 1) }))).code);
      await sleep(20 + partition);
    }
  };
  await Promise.all(Array.from({ length: 100 }, (_, partition) => lane(partition)));
  expect([...codes]).toEqual(['authentication-failed']);
  expect(wire.accepted).toBeLessThan(12);
});

describe('with a certificate in place of a password', () => {
  it('clients have the rights of the name in it, and follow the files to a renewed one', async () => {
    const name = uniqueName('parley');
    const [topic, group] = [await createTopic('orders', { brokers: kafka.openBrokers }), uniqueName('group')];
    const security = closing(createSecurityAdmin(scram()));
    const right = { principal: `User:${name}`, pattern: 'literal', permission: 'allow', host: '*' } as const;
    await security.addAcls([
      { ...right, resource: 'topic', name: topic, operation: 'Write' },
      { ...right, resource: 'topic', name: topic, operation: 'Read' },
      { ...right, resource: 'group', name: group, operation: 'Read' },
    ]);
    const files = await issued(name);
    const settings = mtls(files);
    const lanes = closing(createLanePublisher(settings, quiet, 'test'));
    await eventually(() => lanes.send({ topic, partition: 0, records: records('a', 1) }));
    const { listener } = startSource({ topics: [topic], group, settings });
    await eventually(() => listener.seen.length === 1);
    expect(await closing(createKafkaAdmin(settings)).endOffsets(topic)).toEqual(new Map([[0, 1n]]));
    // A renewed one shows at the broker as another name: the old name's rights are gone with the next connection.
    const renewed = await issued('nobody');
    writeFileSync(files.kafkaCertFile ?? '', readFileSync(renewed.kafkaCertFile ?? ''));
    writeFileSync(files.kafkaKeyFile ?? '', readFileSync(renewed.kafkaKeyFile ?? ''));
    await lanes.send({ topic, partition: 0, records: records('b', 1) });
    const next = closing(createLanePublisher(settings, quiet, 'next'));
    expect(await failureOf(next.send({ topic, partition: 0, records: records('c', 1) }))).toMatchObject({
      code: expect.stringMatching(/^(not-authorized|topic-missing)$/) as string,
    });
  });
});
