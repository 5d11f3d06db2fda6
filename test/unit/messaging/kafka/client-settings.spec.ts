import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adminSettings, kafkajsSettings, type KafkaSettings } from '../../../../src/messaging/kafka/client-settings';

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
beforeAll(() => writeFileSync(caFile, 'PEM'));
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
    expect(kafkajsSettings({ ...secured, kafkaCaFile: caFile }, 'x').ssl).toEqual({ ca: ['PEM'] });
    expect(adminSettings({ ...secured, kafkaCaFile: caFile }, 'x').tls).toEqual({ ca: ['PEM'] });
  });

  it.each(['plain', 'scram-sha-256', 'scram-sha-512'] as const)('know %s for both clients', (kafkaSaslMechanism) => {
    const settings = { ...plain, kafkaSaslMechanism, kafkaSaslUsername: 'u', kafkaSaslPassword: 'p' };
    expect(kafkajsSettings(settings, 'x').sasl).toEqual({
      mechanism: kafkaSaslMechanism,
      username: 'u',
      password: 'p',
    });
    expect(adminSettings(settings, 'x').sasl).toEqual({
      mechanism: kafkaSaslMechanism.toUpperCase(),
      username: 'u',
      password: 'p',
    });
  });

  it('name a certificate file that cannot be read', () => {
    const settings = { ...plain, kafkaSsl: true, kafkaCaFile: join(folder, 'gone.pem') };
    expect(() => kafkajsSettings(settings, 'x')).toThrow(/KAFKA_CA_FILE=".*gone.pem" can't be read/);
  });
});
