import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { ConfigError, loadConfig, secretFilesOf, watchSecrets } from '../../../src/platform/config';
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
    });

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
    });

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
});
