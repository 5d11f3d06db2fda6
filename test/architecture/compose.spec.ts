import { load, YAML11_SCHEMA } from 'js-yaml';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { secureProperties } from '../../scripts/servers/kafka-properties.mjs';
import { parsePartnerFile, specOf } from '../../src/partners';
import { loadConfig, KEYS } from '../../src/platform/config';
import { parseOptions } from '../../src/simulator/options';

interface Service {
  image: string;
  build?: { context: string; dockerfile: string };
  command?: string[];
  entrypoint?: string[];
  environment?: Record<string, string>;
  ports?: string[];
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
  depends_on?: Record<string, { condition: string }>;
  volumes?: string[];
  healthcheck?: { test?: string[]; disable?: boolean };
}

const ROOT = join(__dirname, '..', '..');
const FOLDER = join(ROOT, 'docker');
const textOf = (name: string) => readFileSync(join(FOLDER, name), 'utf8');
// Compose reads YAML 1.1 with merge keys.
const { services } = load(textOf('compose.yaml'), { schema: YAML11_SCHEMA }) as {
  services: Record<string, Service>;
};
const ours = Object.entries(services).filter(([, service]) => service.image === 'parley');
const registries = Object.entries(services).filter(([name]) => name.startsWith('registry'));
const mailboxes = Object.entries(services).filter(([name]) => name === 'mail');
const known = new Set<string>(Object.values(KEYS).map((key) => key.env));

const folder = mkdtempSync(join(tmpdir(), 'parley-compose-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the compose file', () => {
  it.each(ours)('gives %s only environment that Parley reads', (_, { environment = {} }) => {
    expect(Object.keys(environment).filter((name) => !known.has(name))).toEqual([]);
  });

  it.each(ours.filter(([, service]) => service.environment))(
    'gives %s values that Parley takes',
    (_, { environment }) => {
      expect(() => loadConfig(environment)).not.toThrow();
    },
  );

  it.each(ours.filter(([, service]) => service.environment))(
    'points %s at servers that it starts',
    (_, { environment = {} }) => {
      const { databaseUrl, kafkaBrokers, schemaRegistryUrls } = loadConfig(environment);
      const hosts = [databaseUrl, ...kafkaBrokers.map((broker) => `kafka://${broker}`), ...schemaRegistryUrls].map(
        (url) => new URL(url).hostname,
      );
      expect(hosts).toEqual(['postgres', 'kafka', 'registry']);
      expect(Object.keys(services)).toEqual(expect.arrayContaining(hosts));
    },
  );

  it('sends notifications: e-mails to a mailbox that it starts, of a fixed release, and can seal what webhooks are signed with', () => {
    const { roles, smtpHost, smtpPort, webhookSecretKeys } = loadConfig(services['parley']?.environment);
    expect(roles).toContain('notifier');
    expect([smtpHost, smtpPort]).toEqual(['mail', 1025]);
    expect(services['mail']?.image).toMatch(/^axllent\/mailpit:v\d+\.\d+\.\d+$/);
    expect(webhookSecretKeys).not.toBe('');
  });

  it('runs the schema registry that the tests run, and keeps its schemas in PostgreSQL', () => {
    const fetched = readFileSync(join(ROOT, 'scripts', 'servers', 'registry-jars.mjs'), 'utf8');
    const [, version] = /const APICURIO = '(.+)'/.exec(fetched) ?? [];
    const { image, entrypoint, environment } = services['registry'] ?? {};
    expect(image).toBe(`apicurio/apicurio-registry:${version}`);
    expect(entrypoint?.at(-1)).toBe(`/deployments/apicurio-registry-app-${version}-runner.jar`);
    expect(environment?.['APICURIO_DATASOURCE_URL']).toBe('jdbc:postgresql://postgres:5432/registry');
  });

  describe('guards the broker', () => {
    const setting = new Map(
      textOf('kafka/server.properties')
        .split('\n')
        .filter((line) => /^[a-z]/.test(line))
        .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    );
    const secrets = services['kafka']?.environment ?? {};

    it('as the one is guarded that the tests run', () => {
      const admin = { username: 'admin', password: '${env:ADMIN_PASSWORD}' };
      const ports = { port: 9092, controllerPort: 9093, internalPort: 9094 };
      const tested = Object.entries(secureProperties({ ...ports, keystore: '', admin }));
      // A name of its own, another form of keystore, and no listeners that only tests have.
      const own = /^(advertised\.)?listeners$|ssl\.keystore|security\.protocol\.map/;
      const guard = tested.filter(([name]) => !own.test(name)).map(([name, value]) => [name, String(value)]);
      expect(guard.map(([name = '']) => [name, setting.get(name)])).toEqual(guard);
      expect(setting.get('listener.security.protocol.map')).toContain('PARTNER:SASL_SSL');
      // Nobody reaches the listeners without TLS from outside.
      expect(
        setting
          .get('listeners')
          ?.split(',')
          .map((listener) => listener.replace(/:\d+$/, '')),
      ).toEqual(['PARTNER://', 'CONTROLLER://localhost', 'INTERNAL://localhost']);
    });

    it('with the passwords that its clients have, and the administrator is nobody who keeps running', () => {
      const text = ['server.properties', 'client.properties', 'start.sh', 'certificates.sh']
        .map((name) => textOf(`kafka/${name}`))
        .join('');
      const used = new Set([...text.matchAll(/(?:\$\{env:|\$|:env )([A-Z]+_PASSWORD)/g)].map(([, name]) => name));
      expect([...used].sort()).toEqual(Object.keys(secrets).sort());
      expect(services['certificates']?.environment?.['KEYSTORE_PASSWORD']).toBe(secrets['KEYSTORE_PASSWORD']);
      expect(services['parley']?.environment?.['KAFKA_SASL_PASSWORD']).toBe(secrets['PARLEY_PASSWORD']);
      const administrators = ours.filter(([, { environment }]) => environment?.['KAFKA_ADMIN_PASSWORD']);
      expect(administrators.map(([name]) => name)).toEqual(['partner']);
      expect(services['partner']?.environment?.['KAFKA_ADMIN_PASSWORD']).toBe(secrets['ADMIN_PASSWORD']);
    });

    it('by a certificate that is there before it starts, and that every client trusts', () => {
      expect(services['kafka']?.depends_on).toEqual({ certificates: { condition: 'service_completed_successfully' } });
      for (const [name, service] of ours) {
        if (service.environment?.['KAFKA_CA_FILE'] && name !== 'migrate')
          expect([name, service.volumes]).toEqual([name, expect.arrayContaining(['authority:/mnt/authority:ro'])]);
      }
    });

    it.each(['kafka/certificates.sh', 'kafka/start.sh', 'partners/onboard.sh'])(
      'with the script %s, which reads',
      (name) => {
        expect(spawnSync('bash', ['-n', join(FOLDER, name)], { encoding: 'utf8' }).stderr).toBe('');
      },
    );
  });

  it('starts the simulator with options that it takes, under the account that onboarding left for it', () => {
    const [program, ...options] = services['simulator']?.command ?? [];
    expect(program).toBe('dist/src/simulator/main.js');
    expect(services['partner']?.volumes).toContain('accounts:/home/node');
    expect(services['simulator']?.volumes).toContain('accounts:/home/node:ro');
    const files = new Map([
      [services['parley']?.environment?.['KAFKA_CA_FILE'], 'a certificate'],
      ['/home/node/accounts.json', '{"acme": {"username": "acme.1", "password": "told once"}}'],
    ]);
    const here = options.map((option) => {
      const text = files.get(option);
      if (text === undefined) return option;
      const file = join(folder, basename(option));
      writeFileSync(file, text);
      return file;
    });
    const [partner] = parseOptions(here, {}) ?? [];
    expect(partner?.account?.credentials()).toEqual({ username: 'acme.1', password: 'told once' });
    expect(partner?.tls?.ca).toBe(join(folder, 'ca.pem'));
    expect(partner?.parties).toEqual([{ id: 'acme', format: 'avro' }]);
    expect(partner?.registry?.schemaRegistryUrls).toEqual([services['parley']?.environment?.['SCHEMA_REGISTRY_URLS']]);
  });

  it('onboards that partner by a file that onboarding takes, with its schemas, before it reads', () => {
    const { entrypoint, environment = {}, volumes, depends_on } = services['partner'] ?? {};
    expect(entrypoint).toEqual(['sh', '/opt/parley/onboard.sh', 'acme']);
    expect(volumes).toContain('./partners:/opt/parley:ro');
    const spec = specOf(parsePartnerFile(textOf('partners/acme.yaml')), loadConfig(environment));
    expect(spec).toMatchObject({ partner: 'acme', format: 'avro', authentication: { type: 'scram-sha-512' } });
    expect(Object.keys(depends_on ?? {})).toEqual(['migrate', 'kafka', 'registry']);
    expect(Object.keys(services['simulator']?.depends_on ?? {})).toEqual(['partner']);
  });

  it.each([...ours, ...registries, ...mailboxes])(
    'runs %s without privileges on a read-only file system',
    (_, service) => {
      expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] });
    },
  );

  it('waits for what a service needs, in a state that the other one reaches', () => {
    for (const [name, { depends_on = {} }] of Object.entries(services)) {
      for (const [needed, { condition }] of Object.entries(depends_on)) {
        const other = services[needed];
        const reaches =
          condition === 'service_healthy' ? other?.healthcheck?.test : (other?.command ?? other?.entrypoint);
        expect([name, needed, reaches !== undefined]).toEqual([name, needed, true]);
      }
    }
  });

  it('publishes ports to this machine alone', () => {
    const ports = Object.values(services).flatMap((service) => service.ports ?? []);
    expect(ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
    expect(ports).not.toEqual([]);
  });

  it('builds from the Dockerfile that is there, as a user without rights', () => {
    for (const [, { build }] of ours) expect(build).toEqual({ context: '..', dockerfile: 'docker/Dockerfile' });
    const dockerfile = readFileSync(join(FOLDER, 'Dockerfile'), 'utf8');
    expect(dockerfile).toMatch(/^USER node$/m);
    expect(dockerfile).toMatch(/^HEALTHCHECK /m);
    for (const [, source] of dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)) {
      for (const path of source?.split(' ') ?? []) expect([path, existsSync(join(ROOT, path))]).toEqual([path, true]);
    }
  });
});
