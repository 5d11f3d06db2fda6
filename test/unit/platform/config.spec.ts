import { readFileSync } from 'node:fs';
import { ConfigError, envExample, KEYS, loadConfig } from '../../../src/platform/config';

const REQUIRED = { DATABASE_URL: 'postgres://u:p@127.0.0.1:5432/parley', KAFKA_BROKERS: '127.0.0.1:9092' };

const faultsOf = (env: NodeJS.ProcessEnv): readonly string[] => {
  try {
    loadConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
};

describe('the configuration', () => {
  it('needs only a database and a broker', () => {
    expect(loadConfig(REQUIRED)).toMatchObject({
      roles: ['api', 'relay', 'consumer', 'notifier'],
      httpHost: '127.0.0.1',
      httpPort: 3000,
    });
  });

  it('needs no broker where notifications are sent and nothing else is done', () => {
    const { DATABASE_URL } = REQUIRED;
    expect(loadConfig({ DATABASE_URL, ROLES: 'notifier' }).kafkaBrokers).toEqual([]);
    for (const ROLES of ['api', 'relay', 'consumer', 'notifier,relay', ''])
      expect(faultsOf({ DATABASE_URL, ROLES })).toEqual([expect.stringMatching(/^KAFKA_BROKERS is missing/)]);
  });

  it('needs one all the same for an administrator', () => {
    const { DATABASE_URL } = REQUIRED;
    const admin = { ROLES: 'notifier', KAFKA_ADMIN_USERNAME: 'admin', KAFKA_ADMIN_PASSWORD: 'secret' };
    expect(faultsOf({ DATABASE_URL, ...admin })).toEqual([
      'KAFKA_ADMIN_USERNAME needs KAFKA_ADMIN_BROKERS or KAFKA_BROKERS.',
    ]);
    expect(faultsOf({ DATABASE_URL, ...admin, KAFKA_ADMIN_BROKERS: '127.0.0.1:9092' })).toEqual([]);
  });

  it('lists every fault at once, each with its key', () => {
    const faults = faultsOf({
      ROLES: 'api,chef',
      HTTP_PORT: '99999',
      KAFKA_SSL: 'maybe',
      KAFKA_SASL_MECHANISM: 'plain',
    });
    for (const key of ['ROLES', 'HTTP_PORT', 'KAFKA_SSL', 'DATABASE_URL', 'KAFKA_BROKERS', 'KAFKA_SASL_USERNAME']) {
      expect(faults.join('\n')).toContain(key);
    }
  });

  it('never repeats a secret, not even a wrong one', () => {
    const faults = faultsOf({ ...REQUIRED, DATABASE_URL: 'mysql://root:hunter2@x/y' });
    expect(faults).toHaveLength(1);
    expect(faults.join()).not.toContain('hunter2');
  });

  it('takes keys that seal only in their full length, and quotes none of them', () => {
    const [first, second] = [Buffer.alloc(32, 1).toString('base64'), Buffer.alloc(32, 2).toString('base64')];
    const keys = (WEBHOOK_SECRET_KEYS: string) => faultsOf({ ...REQUIRED, WEBHOOK_SECRET_KEYS });
    expect(keys(`${first}, ${second}`)).toEqual([]);
    for (const wrong of ['hunter2', `${first},`, Buffer.alloc(16, 3).toString('base64'), `${first} ${second}`])
      expect(keys(wrong)).toEqual([
        'WEBHOOK_SECRET_KEYS must be a list of keys, separated by commas, each of 32 bytes in base64 ("openssl rand -base64 32" makes one).',
      ]);
  });

  it('refuses a password in clear over an open wire', () => {
    const env = { ...REQUIRED, KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_USERNAME: 'u', KAFKA_SASL_PASSWORD: 'p' };
    expect(faultsOf(env)).toEqual([expect.stringContaining('KAFKA_SSL')]);
    expect(faultsOf({ ...env, KAFKA_SSL: 'true' })).toEqual([]);
  });

  it('takes what sends e-mails and SMS with all that belongs to it, or not at all', () => {
    const faults = (env: NodeJS.ProcessEnv) => faultsOf({ ...REQUIRED, ...env });
    expect(faults({ SMTP_HOST: 'mail.example', SMTP_USERNAME: 'parley', SMS_URL: 'https://a.example' })).toEqual([
      'SMTP_HOST needs EMAIL_FROM.',
      'SMTP_USERNAME and SMTP_PASSWORD go together.',
      'SMS_URL needs SMS_TOKEN.',
      'SMS_URL needs SMS_FROM.',
    ]);
    const mail = { SMTP_HOST: 'mail.example', SMTP_USERNAME: 'parley', SMTP_PASSWORD: 'secret' };
    expect(faults({ ...mail, EMAIL_FROM: '"Example, Ltd" <orders@example.com>' })).toEqual([]);
    expect(faults({ ...mail, EMAIL_FROM: 'orders@example.com', SMTP_TLS: 'none' })).toEqual([
      'SMTP_TLS=none would send SMTP_PASSWORD in clear over the network: take starttls or implicit.',
    ]);
    const sms = { SMS_TOKEN: 'secret', SMS_FROM: 'Parley' };
    expect(faults({ ...sms, SMS_URL: 'HTTP://sms.example' })).toEqual([
      'SMS_URL would send SMS_TOKEN in clear over the network: take https.',
    ]);
    for (const SMS_URL of ['https://sms.example', 'http://127.0.0.1:8080', 'http://[::1]:8080'])
      expect(faultsOf({ ...REQUIRED, ...sms, SMS_URL })).toEqual([]);
    expect(faults({ ...mail, EMAIL_FROM: 'a@example.com, b@example.com' })).toEqual([
      'EMAIL_FROM="a@example.com, b@example.com" must be one address, or a name with <an address>.',
    ]);
  });

  it('refuses ports that no server has', () => {
    for (const port of [0, 65_536, 99_999]) {
      expect(faultsOf({ ...REQUIRED, KAFKA_BROKERS: `a:9092,b:${port}` })).toEqual([
        expect.stringContaining('KAFKA_BROKERS'),
      ]);
    }
    expect(loadConfig({ ...REQUIRED, KAFKA_BROKERS: 'a:1, [::1]:65535' }).kafkaBrokers).toEqual(['a:1', '[::1]:65535']);
  });

  it('refuses a drain delay that would use up the whole stop', () => {
    const env = { ...REQUIRED, SHUTDOWN_DRAIN_MS: '25000' };
    expect(faultsOf(env)).toEqual([expect.stringContaining('SHUTDOWN_DRAIN_MS')]);
    expect(faultsOf({ ...env, SHUTDOWN_TIMEOUT_MS: '30000' })).toEqual([]);
  });

  it('refuses to forget ids of records that a topic still has', () => {
    const env = { ...REQUIRED, KAFKA_TOPIC_RETENTION_HOURS: '168', INBOX_RETENTION_HOURS: '191' };
    expect(faultsOf(env)).toEqual([expect.stringContaining('INBOX_RETENTION_HOURS')]);
    expect(faultsOf({ ...env, INBOX_RETENTION_HOURS: '192' })).toEqual([]);
  });

  it('ends a blocked process before its session does', () => {
    expect(loadConfig(REQUIRED).watchdogMs).toBe(30_000);
    expect(loadConfig({ ...REQUIRED, KAFKA_SESSION_TIMEOUT_MS: '6000' }).watchdogMs).toBe(4_000);
    const env = { ...REQUIRED, KAFKA_SESSION_TIMEOUT_MS: '10000' };
    expect(faultsOf({ ...env, WATCHDOG_MS: '10000' })).toEqual([expect.stringContaining('WATCHDOG_MS')]);
    expect(faultsOf({ ...env, WATCHDOG_MS: '9999' })).toEqual([]);
    expect(faultsOf({ ...env, WATCHDOG_MS: '0' })).toEqual([expect.stringContaining('WATCHDOG_MS')]);
  });

  it('lists faults of times that belong together beside the others', () => {
    const env = { ...REQUIRED, INBOX_RETENTION_HOURS: '30', WATCHDOG_MS: '50000', HTTP_PORT: 'x' };
    expect(faultsOf(env)).toHaveLength(3);
  });

  it('takes schema registries as a list of base URLs', () => {
    const urls = ' https://a/apis/ccompat/v7/ , http://b:8081 ';
    expect(loadConfig({ ...REQUIRED, SCHEMA_REGISTRY_URLS: urls })).toMatchObject({
      schemaRegistryUrls: ['https://a/apis/ccompat/v7', 'http://b:8081'],
      schemaRegistryDeadlineMs: 3000,
    });
    expect(loadConfig(REQUIRED).schemaRegistryUrls).toEqual([]);
    for (const wrong of ['a:8081', 'ftp://a', 'http://a?x=1', 'http://a,', 'http://u@a']) {
      expect(faultsOf({ ...REQUIRED, SCHEMA_REGISTRY_URLS: wrong })).toEqual([
        expect.stringContaining('SCHEMA_REGISTRY_URLS'),
      ]);
    }
  });

  it('does not repeat credentials that stand in a URL', () => {
    const faults = faultsOf({ ...REQUIRED, SCHEMA_REGISTRY_URLS: 'https://a,https://kate:hun/ter2@b' });
    expect(faults).toHaveLength(1);
    expect(faults.join()).not.toMatch(/kate|hun|ter2/);
  });

  it('knows one way to sign in to a schema registry', () => {
    const account = { ...REQUIRED, SCHEMA_REGISTRY_USERNAME: 'u', SCHEMA_REGISTRY_PASSWORD: 'p' };
    expect(faultsOf(account)).toEqual([]);
    expect(faultsOf({ ...account, SCHEMA_REGISTRY_TOKEN: 't' })).toEqual([
      expect.stringContaining('SCHEMA_REGISTRY_TOKEN'),
    ]);
    expect(faultsOf({ ...REQUIRED, SCHEMA_REGISTRY_USERNAME: 'u' })).toEqual([
      expect.stringContaining('SCHEMA_REGISTRY_PASSWORD'),
    ]);
    const faults = faultsOf({ ...REQUIRED, SCHEMA_REGISTRY_TOKEN: 'hunter 2' });
    expect(faults).toEqual([expect.stringContaining('SCHEMA_REGISTRY_TOKEN')]);
    expect(faults.join()).not.toContain('hunter');
  });

  it('takes an identity provider with all that belongs to it, or none', () => {
    const oidc = {
      OIDC_ISSUER: 'https://id.example/realms/x',
      OIDC_AUDIENCE: 'parley',
      OIDC_ROLE_MAP: 'a=b=admin, desk=support',
    };
    expect(loadConfig({ ...REQUIRED, ...oidc, OIDC_ROLE_CLAIM: '["https://x.y/roles"]' })).toMatchObject({
      oidcRoleClaim: ['https://x.y/roles'],
      oidcRoleMap: [
        ['a=b', 'admin'],
        ['desk', 'support'],
      ],
      oidcNameClaim: ['preferred_username'],
      oidcAreasClaim: [],
    });
    expect(faultsOf({ ...REQUIRED, OIDC_ISSUER: oidc.OIDC_ISSUER })).toEqual([
      'OIDC_ISSUER needs OIDC_AUDIENCE.',
      'OIDC_ISSUER needs OIDC_ROLE_MAP.',
    ]);
    expect(faultsOf({ ...REQUIRED, OIDC_AUDIENCE: 'parley' })).toEqual([expect.stringContaining('OIDC_ISSUER')]);
    for (const wrong of [
      // Who is on the wire could put keys of their own in it.
      { OIDC_ISSUER: 'http://id.example' },
      { OIDC_ISSUER: 'https://me:secret@id.example' },
      { OIDC_ROLE_MAP: 'admins=root' },
      { OIDC_ROLE_MAP: 'admins' },
      { OIDC_ROLE_CLAIM: 'https://x.y/roles' },
      { OIDC_ROLE_CLAIM: '[1]' },
    ]) {
      const faults = faultsOf({ ...REQUIRED, ...oidc, ...wrong });
      expect(faults).toEqual([expect.stringContaining(Object.keys(wrong)[0] ?? '')]);
      expect(faults.join()).not.toContain('secret');
    }
    expect(faultsOf({ ...REQUIRED, ...oidc, OIDC_ISSUER: 'http://127.0.0.1:8080' })).toEqual([]);
  });

  it('believes proxies by address alone', () => {
    const proxies = (HTTP_TRUSTED_PROXIES: string) => ({ ...REQUIRED, HTTP_TRUSTED_PROXIES });
    expect(loadConfig(proxies('10.0.0.0/8, ::1')).httpTrustedProxies).toEqual(['10.0.0.0/8', '::1']);
    for (const wrong of ['true', 'loopback', '10.0.0.0/33', '0.0.0.0/0', '::/0', '10.0.0', '*'])
      expect(faultsOf(proxies(wrong))).toEqual([expect.stringContaining('HTTP_TRUSTED_PROXIES')]);
  });

  it('takes an empty variable for an absent one', () => {
    expect(loadConfig({ ...REQUIRED, HTTP_PORT: '' }).httpPort).toBe(3000);
  });

  it('is written down in .env.example, word for word', () => {
    expect(readFileSync('.env.example', 'utf8')).toBe(envExample());
  });

  it('names a unit and a reason for every key', () => {
    for (const key of Object.values(KEYS)) {
      expect(key.unit).not.toBe('');
      expect(key.doc.length).toBeGreaterThan(10);
    }
  });
});
