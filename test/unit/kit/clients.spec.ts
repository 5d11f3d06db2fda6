import { load } from 'js-yaml';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeAuthority } from '../../../scripts/servers/index.mjs';
import { kitFor, unpack } from '../../support/kit';
import type { AsyncApi } from '../../contract/asyncapi-fixtures';

const folder = mkdtempSync(join(tmpdir(), 'parley-clients-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** With all that a subject may hold and a language may take for its own. */
const SUBJECT = String.raw`CN=acme,O="Acme" d'Été\, Ltd`;
const byCertificate = { account: SUBJECT, authentication: 'tls' } as const;
let password: Map<string, string>;
let certificate: Map<string, string>;
const texts = (files: ReadonlyMap<string, Buffer>) => new Map([...files].map(([name, text]) => [name, String(text)]));

beforeAll(async () => {
  const authority = (await makeAuthority()).pem;
  // Without an authority's file: the public ones count.
  password = texts(await kitFor('acme', 'avro'));
  certificate = texts(await kitFor('acme', 'avro', { authority, ...byCertificate }));
  for (const [name, files] of Object.entries({ password, certificate }))
    unpack(new Map([...files].map(([file, text]) => [file, Buffer.from(text)])), join(folder, name));
});

/** Settings in a file of Java's or of librdkafka's. */
const settingsIn = (text = ''): Record<string, string> =>
  Object.fromEntries(
    text
      .split('\n')
      .filter((line) => line && !line.startsWith('#'))
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );

describe('the settings of clients for a partner who comes in by certificate', () => {
  it('name certificate and key in the place of a password', () => {
    const java = settingsIn(certificate.get('clients/java/client.properties'));
    expect(java).toMatchObject({
      'security.protocol': 'SSL',
      'ssl.keystore.type': 'PEM',
      'ssl.keystore.location': 'partner.keystore.pem',
      'ssl.truststore.location': 'ca.pem',
    });
    const kcat = settingsIn(certificate.get('clients/kcat/kcat.conf'));
    expect(kcat).toMatchObject({
      'client.id': SUBJECT,
      'security.protocol': 'SSL',
      'ssl.certificate.location': 'partner.pem',
      'ssl.key.location': 'partner.key',
    });
    expect(Object.keys({ ...java, ...kcat }).filter((name) => /sasl|config\.providers/.test(name))).toEqual([]);
    const { servers, components } = load(certificate.get('asyncapi.yaml') ?? '') as AsyncApi & {
      components: { securitySchemes: unknown };
    };
    expect(servers['kafka']).toMatchObject({
      protocol: 'kafka-secure',
      security: [{ $ref: '#/components/securitySchemes/x509' }],
    });
    expect(components.securitySchemes).toMatchObject({ x509: { type: 'X509' } });
    for (const name of ['asyncapi.yaml', 'asyncapi.html']) {
      expect(certificate.get(name)).toContain('a certificate of the partner');
      expect(certificate.get(name)).not.toMatch(/scram/i);
    }
  });

  it('are explained by a page that speaks of a password for the sandbox alone', () => {
    const [page = '', other = ''] = [certificate.get('README.md'), password.get('README.md')];
    const promises = ['password was told to you', 'Replacing the password', 'TLS and SCRAM-SHA-512'];
    expect(promises.filter((words) => page.includes(words))).toEqual([]);
    expect(promises.filter((words) => !other.includes(words))).toEqual([]);
    const own = ['Replacing the certificate', 'partner.key', 'in the sandbox you come'];
    expect(own.filter((words) => !page.includes(words))).toEqual([]);
    expect(own.filter((words) => other.includes(words))).toEqual([]);
    for (const text of [page, other]) expect(text).not.toMatch(/\n\n\n/);
  });

  it('leave no trace in those for a password', () => {
    const speaking = [...password].filter(
      ([name, text]) => /^(clients|README)/.test(name) && /partner\.pem/.test(text),
    );
    expect(speaking.map(([name]) => name)).toEqual([]);
  });
});

describe('the clients of a kit that print what they read', () => {
  it.each(['node/kafkajs.mjs', 'node/platformatic.mjs', 'python/client.py', 'dotnet/Program.cs'])(
    '%s takes the variables that the page names',
    (name) => {
      const variables = ['BROKERS', 'CA', 'USERNAME', 'PASSWORD'].map((one) => `PARTNER_${one}`);
      const takes = (files: ReadonlyMap<string, string>, one: string) =>
        new RegExp(`(?:"|process\\.env\\.)${one}\\b`).test(files.get(`clients/${name}`) ?? '');
      expect(variables.filter((one) => !takes(password, one))).toEqual([]);
      expect([...variables, 'PARTNER_CERT', 'PARTNER_KEY'].filter((one) => !takes(certificate, one))).toEqual([]);
    },
  );

  it('in Python go by those variables, with an authority in the kit and without, by password and by certificate', () => {
    const script = `import json, runpy, sys, types
sys.modules["confluent_kafka"] = types.SimpleNamespace(Consumer=None, Producer=None)
print(json.dumps(runpy.run_path("clients/python/client.py")["CONNECTION"]))`;
    const connection = (kit: 'password' | 'certificate', env: NodeJS.ProcessEnv = {}) => {
      const options = { cwd: join(folder, kit), env: { PATH: process.env['PATH'], ...env }, encoding: 'utf8' } as const;
      const { error, stdout, stderr } = spawnSync('python3', ['-W', 'error', '-c', script], options);
      if (error) return undefined;
      expect(stderr).toBe('');
      return JSON.parse(stdout) as Record<string, unknown>;
    };
    const ours = connection('password');
    // No Python on this machine.
    if (!ours) return;
    const authority = join(folder, 'certificate', 'ca.pem');
    const sandbox = { PARTNER_BROKERS: 'localhost:9092', PARTNER_CA: authority, PARTNER_USERNAME: 'acme.1' };
    const login = { 'security.protocol': 'SASL_SSL', 'sasl.username': 'acme.1', 'client.id': 'acme.1' };
    const inSandbox = { ...login, 'bootstrap.servers': 'localhost:9092', 'ssl.ca.location': authority };
    expect(ours).toMatchObject(login);
    expect(ours).not.toHaveProperty(['ssl.ca.location']);
    expect(connection('password', sandbox)).toMatchObject(inSandbox);
    expect(connection('certificate', sandbox)).toMatchObject(inSandbox);
    const certified = connection('certificate');
    expect(certified).toMatchObject({
      ...{ 'security.protocol': 'SSL', 'client.id': SUBJECT, 'ssl.ca.location': 'ca.pem' },
      ...{ 'ssl.certificate.location': 'partner.pem', 'ssl.key.location': 'partner.key' },
    });
    expect(Object.keys(certified ?? {}).filter((name) => name.startsWith('sasl'))).toEqual([]);
  });
});
