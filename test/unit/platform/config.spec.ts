import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { ConfigError, envExample, KEYS, loadConfig, secretFilesOf, watchSecrets } from '../../../src/platform/config';
import { eventually } from '../../support/eventually';

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

  describe('of secrets that stand in files', () => {
    const folder = mkdtempSync(join(tmpdir(), 'secrets-'));
    const path = join(folder, 'password');
    const env = {
      ...REQUIRED,
      KAFKA_SASL_MECHANISM: 'scram-sha-512',
      KAFKA_SASL_USERNAME: 'parley',
      KAFKA_SASL_PASSWORD_FILE: path,
    };
    beforeEach(() => writeFileSync(path, 'first secret\n'));
    afterAll(() => rmSync(folder, { recursive: true }));

    it('cuts the newline at the end and nothing else', () => {
      expect(loadConfig(env).kafkaSaslPassword).toBe('first secret');
      writeFileSync(path, ' two lines\nof text \r\n');
      expect(loadConfig(env).kafkaSaslPassword).toBe(' two lines\nof text ');
    });

    it('follows the file, also where it is exchanged by the folder above it', async () => {
      const [one, two, mounted] = ['one', 'two', '..data'].map((name) => join(folder, name)) as [
        string,
        string,
        string,
      ];
      for (const [dir, secret] of [
        [one, 'old'],
        [two, 'new'],
      ] as const) {
        mkdirSync(dir);
        writeFileSync(join(dir, 'password'), secret);
      }
      symlinkSync(one, mounted);
      const config = loadConfig({ ...env, KAFKA_SASL_PASSWORD_FILE: join(mounted, 'password') });
      expect([config.kafkaSaslPassword, Object.keys(config).includes('kafkaSaslPassword')]).toEqual(['old', true]);
      symlinkSync(two, `${mounted}_tmp`);
      renameSync(`${mounted}_tmp`, mounted);
      await eventually(() => config.kafkaSaslPassword === 'new');
    });

    it('keeps the last good value while the file is missing, empty or bad, and says why', async () => {
      const token = join(folder, 'token');
      writeFileSync(token, 'sound');
      const config = loadConfig({ ...REQUIRED, SCHEMA_REGISTRY_TOKEN_FILE: token });
      const [file] = secretFilesOf(config);
      for (const [spoil, why] of [
        [() => rmSync(token), 'cannot be read (ENOENT)'],
        [() => writeFileSync(token, '\n'), 'is empty'],
        [() => writeFileSync(token, 'not a token'), 'holds what must be a bearer token (RFC 6750)'],
        [() => writeFileSync(token, 'x'.repeat(70_000)), 'is larger than 65536 bytes, and is no secret'],
      ] as const) {
        spoil();
        await eventually(() => file?.trouble === why);
        expect(config.schemaRegistryToken).toBe('sound');
      }
      writeFileSync(token, 'mended');
      await eventually(() => config.schemaRegistryToken === 'mended');
      expect(file?.trouble).toBeUndefined();
    }, 30_000);

    it('says once what becomes of a file, and never what is in it', async () => {
      const lines: string[] = [];
      const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
      const config = loadConfig(env);
      const ending = new AbortController();
      const watching = watchSecrets(config, log, ending.signal, 20);
      writeFileSync(path, 'second secret');
      await eventually(() => lines.some((line) => line.includes('was read anew')));
      rmSync(path);
      await eventually(() => lines.some((line) => line.includes('its last good value stays in use')));
      writeFileSync(path, 'second secret');
      await eventually(() => lines.some((line) => line.includes('can be used again')));
      ending.abort();
      await watching;
      expect(lines).toHaveLength(3);
      expect(lines.join()).not.toMatch(/first|second/);
    }, 30_000);

    it('refuses a file that cannot be used, and a secret that is given twice, and repeats neither', () => {
      expect(faultsOf({ ...env, KAFKA_SASL_PASSWORD: 'hunter2' })).toEqual([
        'KAFKA_SASL_PASSWORD_FILE takes the place of KAFKA_SASL_PASSWORD: set one of them.',
      ]);
      // The secret itself, where its path should stand.
      const faults = faultsOf({ ...env, KAFKA_SASL_PASSWORD_FILE: 'hunter2' });
      expect(faults).toEqual(['KAFKA_SASL_PASSWORD_FILE cannot be read (ENOENT).']);
      writeFileSync(path, 'mysql://root:hunter2@x/y');
      expect(faultsOf({ KAFKA_BROKERS: 'a:1', DATABASE_URL_FILE: path })).toEqual([
        'DATABASE_URL_FILE holds what must be a URL like postgres://user:password@host:5432/database.',
      ]);
    });
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
