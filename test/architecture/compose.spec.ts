import { load, YAML11_SCHEMA } from 'js-yaml';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
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
  healthcheck?: { test?: string[]; disable?: boolean };
}

const ROOT = join(__dirname, '..', '..');
const FOLDER = join(ROOT, 'docker');
// Compose reads YAML 1.1 with merge keys.
const { services } = load(readFileSync(join(FOLDER, 'compose.yaml'), 'utf8'), { schema: YAML11_SCHEMA }) as {
  services: Record<string, Service>;
};
const ours = Object.entries(services).filter(([, service]) => service.image === 'parley');
const registries = Object.entries(services).filter(([name]) => name.startsWith('registry'));
const known = new Set<string>(Object.values(KEYS).map((key) => key.env));

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

  it('runs the schema registry that the tests run, and keeps its schemas in PostgreSQL', () => {
    const fetched = readFileSync(join(ROOT, 'scripts', 'servers', 'registry-jars.mjs'), 'utf8');
    const [, version] = /const APICURIO = '(.+)'/.exec(fetched) ?? [];
    const { image, entrypoint, environment } = services['registry'] ?? {};
    expect(image).toBe(`apicurio/apicurio-registry:${version}`);
    expect(entrypoint?.at(-1)).toBe(`/deployments/apicurio-registry-app-${version}-runner.jar`);
    expect(environment?.['APICURIO_DATASOURCE_URL']).toBe('jdbc:postgresql://postgres:5432/registry');
  });

  it('starts the simulator with options that it takes', () => {
    const [program, ...options] = services['simulator']?.command ?? [];
    expect(program).toBe('dist/src/simulator/main.js');
    const [{ parties, registry } = {}] = parseOptions(options, {}) ?? [];
    expect(parties).toEqual([{ id: 'acme', format: 'avro' }]);
    expect(registry?.schemaRegistryUrls).toEqual([services['parley']?.environment?.['SCHEMA_REGISTRY_URLS']]);
  });

  it('publishes the schemas of the partner that it adds, before that partner reads', () => {
    const [, ...added] = services['partner']?.command ?? [];
    // Without --format a partner speaks Avro, as the simulated one does.
    expect(added).toEqual(['partner', 'add', 'acme', '--name', 'Acme Ltd']);
    expect(services['publish']?.command).toEqual(['dist/src/cli/main.js', 'contracts', 'publish', '--yes']);
    expect(Object.keys(services['publish']?.depends_on ?? {})).toEqual(['partner', 'registry']);
    expect(Object.keys(services['simulator']?.depends_on ?? {})).toEqual(['publish']);
  });

  it.each([...ours, ...registries])('runs %s without privileges on a read-only file system', (_, service) => {
    expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] });
  });

  it('waits for what a service needs, in a state that the other one reaches', () => {
    for (const [name, { depends_on = {} }] of Object.entries(services)) {
      for (const [needed, { condition }] of Object.entries(depends_on)) {
        const other = services[needed];
        const reaches = condition === 'service_healthy' ? other?.healthcheck?.test : other?.command;
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
