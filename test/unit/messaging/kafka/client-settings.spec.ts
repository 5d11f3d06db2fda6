import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Authority, makeAuthority } from '../../../../scripts/servers/index.mjs';
import { createKafkaAdmin } from '../../../../src/messaging/kafka';
import {
  adminAccount,
  adminSettings,
  kafkajsSettings,
  type KafkaSettings,
} from '../../../../src/messaging/kafka/client-settings';

const plain: KafkaSettings = {
  instanceId: 'one',
  kafkaBrokers: ['a:1', 'b:2'],
  kafkaSsl: false,
  kafkaCaFile: '',
  kafkaSaslMechanism: '',
  kafkaSaslUsername: '',
  kafkaSaslPassword: '',
};
const folder = mkdtempSync(join(tmpdir(), 'parley-settings-'));
const caFile = join(folder, 'ca.pem');
let authority: Authority;
beforeAll(async () => {
  authority = await makeAuthority();
  writeFileSync(caFile, authority.pem);
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('client settings', () => {
  it('carry neither TLS nor an account unless configured', () => {
    expect(kafkajsSettings(plain, 'relay')).toMatchObject({
      clientId: 'parley-relay-one',
      brokers: ['a:1', 'b:2'],
      ssl: false,
    });
    expect(kafkajsSettings(plain, 'relay')).not.toHaveProperty('sasl');
    expect(adminSettings(plain, 'admin')).toMatchObject({ bootstrapBrokers: ['a:1', 'b:2'], autocreateTopics: false });
    expect(adminSettings(plain, 'admin')).not.toHaveProperty('tls');
  });

  it('give TLS time, and the authority or the public ones', () => {
    const secured = { ...plain, kafkaSsl: true };
    expect(kafkajsSettings(secured, 'x')).toMatchObject({
      ssl: {},
      connectionTimeout: 10_000,
      authenticationTimeout: 10_000,
    });
    expect(kafkajsSettings({ ...secured, kafkaCaFile: caFile }, 'x').ssl).toEqual({ ca: authority.pem });
    expect(adminSettings({ ...secured, kafkaCaFile: caFile }, 'x').tls).toEqual({ ca: authority.pem });
  });

  it.each(['plain', 'scram-sha-256', 'scram-sha-512'] as const)('know %s for both clients', (kafkaSaslMechanism) => {
    const settings = { ...plain, kafkaSaslMechanism, kafkaSaslUsername: 'u', kafkaSaslPassword: 'p' };
    expect(kafkajsSettings(settings, 'x').sasl).toEqual({
      mechanism: kafkaSaslMechanism,
      username: 'u',
      password: 'p',
    });
    const { mechanism, username, password } = adminSettings(settings, 'x').sasl ?? {};
    expect(mechanism).toBe(kafkaSaslMechanism.toUpperCase());
    expect([username, password].map((read) => (read as () => string)())).toEqual(['u', 'p']);
  });

  it('follow a password that changes', () => {
    const settings = { ...plain, kafkaSaslMechanism: 'scram-sha-512' as const, kafkaSaslPassword: 'before' };
    const { sasl } = kafkajsSettings(settings, 'x');
    const admin = adminSettings(settings, 'x').sasl?.password as () => string;
    settings.kafkaSaslPassword = 'after';
    expect(sasl).toMatchObject({ password: 'after' });
    expect(admin()).toBe('after');
  });

  it('follow certificates that change, and keep the last good ones', async () => {
    const [certFile, keyFile] = [join(folder, 'own.pem'), join(folder, 'own.key')];
    const [first, second] = [await authority.issue('parley'), await authority.issue('parley')];
    writeFileSync(certFile, first.cert);
    writeFileSync(keyFile, first.key);
    const settings = { ...plain, kafkaSsl: true, kafkaCaFile: caFile, kafkaCertFile: certFile, kafkaKeyFile: keyFile };
    const options = [kafkajsSettings(settings, 'x').ssl, adminSettings(settings, 'x').tls];
    for (const tls of options) expect(tls).toEqual({ ca: authority.pem, ...first });
    writeFileSync(certFile, second.cert);
    for (const tls of options) expect(tls).toEqual({ ca: authority.pem, ...first });
    writeFileSync(keyFile, second.key);
    for (const tls of options) expect(tls).toEqual({ ca: authority.pem, ...second });
    rmSync(keyFile);
    for (const tls of options) expect(tls).toEqual({ ca: authority.pem, ...second });
  });

  it('name a certificate file that cannot be read', () => {
    const settings = { ...plain, kafkaSsl: true, kafkaCaFile: join(folder, 'gone.pem') };
    expect(() => kafkajsSettings(settings, 'x')).toThrow(/KAFKA_CA_FILE=".*gone.pem" can't be read/);
    writeFileSync(settings.kafkaCaFile, 'no certificate');
    expect(() => kafkajsSettings(settings, 'x')).toThrow(/KAFKA_CA_FILE=".*gone.pem" holds no certificate in PEM/);
  });

  it('name a certificate of ours that does not fit its key', async () => {
    const [certFile, keyFile] = [join(folder, 'unfit.pem'), join(folder, 'unfit.key')];
    writeFileSync(certFile, (await authority.issue('parley')).cert);
    writeFileSync(keyFile, (await authority.issue('parley')).key);
    const settings = { ...plain, kafkaSsl: true, kafkaCertFile: certFile, kafkaKeyFile: keyFile };
    expect(() => kafkajsSettings(settings, 'x')).toThrow(/KAFKA_CERT_FILE=".*" are no certificate and its key in PEM/);
  });

  it('take the account of the administrator where it is asked for, and follow its password', () => {
    const config = {
      ...plain,
      kafkaSaslMechanism: 'scram-sha-512' as const,
      kafkaSaslUsername: 'parley',
      kafkaSaslPassword: 'ours',
      kafkaAdminUsername: 'admin',
      kafkaAdminPassword: 'before',
      kafkaAdminBrokers: [] as string[],
    };
    const admin = adminAccount(config);
    config.kafkaAdminPassword = 'after';
    expect(admin).toMatchObject({
      kafkaBrokers: ['a:1', 'b:2'],
      kafkaSaslUsername: 'admin',
      kafkaSaslPassword: 'after',
    });
    expect(adminAccount({ ...config, kafkaAdminBrokers: ['c:3'] }).kafkaBrokers).toEqual(['c:3']);
    expect(() => adminAccount({ ...config, kafkaAdminUsername: '' })).toThrow(/administrator/);
    const { kafkaSaslMechanism } = adminAccount({ ...config, kafkaSaslMechanism: '', kafkaAdminUsername: '' });
    expect(kafkaSaslMechanism).toBe('');
  });
});

describe('administration where no broker is named, as beside a process that only notifies', () => {
  it('says so, and what to do', async () => {
    const admin = createKafkaAdmin({ ...plain, kafkaBrokers: [] });
    await expect(admin.describeTopics(['orders'])).rejects.toMatchObject({
      code: 'broker-unreachable',
      message: 'Could not list topics: no broker is named.',
      hint: expect.stringContaining('Set KAFKA_BROKERS') as string,
    });
    await admin.close();
  });
});
