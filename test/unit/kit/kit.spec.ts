import { load } from 'js-yaml';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FORMATS } from '../../../src/contracts';
import { catalogueOf } from '../../../src/kit/catalogue';
import { programPackage } from '../../../src/kit/programs';
import { textOf } from '../../../src/kit/templates';
import { makeAuthority } from '../../../scripts/servers/index.mjs';
import { kitFor, ROOT, unpack } from '../../support/kit';
import golden from './files.json';

const folder = mkdtempSync(join(tmpdir(), 'parley-kit-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const textsOf = (files: ReadonlyMap<string, Buffer>) =>
  [...files]
    .filter(([name]) => !/\.(value|tgz)$/.test(name))
    .map(([name, content]) => [name, String(content)] as const);

describe("the partner's kit", () => {
  it('has these files, each of which its page speaks of', async () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    const files = await kitFor('acme', 'avro', { authority: (await makeAuthority()).pem });
    expect([...files.keys()].sort().map((name) => name.replace(version, 'VERSION'))).toEqual(golden);
    expect(() => catalogueOf([...files.keys(), 'stray.txt'])).toThrow('the catalogue says nothing of stray.txt');
    const readme = String(files.get('README.md'));
    const named = [...readme.matchAll(/(?:\]\(|`| )((?:clients|fixtures|sandbox|schemas)\/[\w./-]*\w|asyncapi\.\w+)/g)];
    const isThere = (name: string) => [...files.keys()].some((file) => file.startsWith(name));
    const missing = named.map(([, name = '']) => name).filter((name) => name !== 'sandbox/ca.pem' && !isThere(name));
    expect(missing).toEqual([]);
    // The next installation removes what was installed so, and "npx" then asks the public registry for it.
    expect(readme).not.toContain('--no-save');
  });

  it('is for partners: it says nothing of our own systems, which have none', async () => {
    const [files, programs] = [await kitFor('acme', 'avro'), programPackage(ROOT)];
    const speaking = textsOf(files).filter(([name, text]) => /notification/i.test(name + text));
    expect(speaking.map(([name]) => name)).toEqual([]);
    expect(programs.files.filter((name) => /notification.*\.(avsc|proto)$/.test(name))).toEqual([]);
    await expect(kitFor('company', 'avro')).rejects.toMatchObject({ code: 'kit-own-systems' });
  });

  it('is the same, byte for byte, whenever and in whatever zone it is made', async () => {
    // jest's own process keeps the zone that it was started in.
    const script = `const { kitOf, zipOf } = require('./dist/src/kit');
      const { channelsInFormat } = require('./dist/src/asyncapi');
      const channels = channelsInFormat(require('./dist/src/contracts').CONTRACTS, 'acme', 'protobuf');
      kitOf({ partner: 'acme', name: 'Acme', account: 'acme.1', channels, installation: process.cwd() })
        .then((files) => zipOf(files, 'acme-kit'))
        .then((zip) => console.log(require('node:crypto').hash('sha256', zip)));`;
    const made = ['UTC', 'Asia/Tokyo', 'America/New_York'].map((TZ) =>
      spawnSync(process.execPath, ['--eval', script], { cwd: ROOT, encoding: 'utf8', env: { ...process.env, TZ } }),
    );
    const [first] = made;
    expect(first?.stdout).toMatch(/^[0-9a-f]{64}$/m);
    expect(made.map(({ stdout }) => stdout)).toEqual(made.map(() => first?.stdout));
  });

  it.each(FORMATS)('leaves nothing to be filled in, in %s', async (format) => {
    const authority = (await makeAuthority()).pem;
    for (const more of [{}, { authority, authentication: 'tls' }] as const) {
      const files = await kitFor('acme', format, more);
      const unfilled = textsOf(files).filter(([, text]) => /\{\{|\}\}/.test(text));
      expect(unfilled.map(([name]) => name)).toEqual([]);
      expect(
        textsOf(files)
          .filter(([, text]) => /undefined|\[object /.test(text))
          .map(([name]) => name),
      ).toEqual([]);
    }
  });

  it('takes certificates alone, and no private key', async () => {
    const authority = await makeAuthority();
    const { key, cert } = await authority.issue('acme');
    const files = await kitFor('acme', 'json', { authority: `Bag Attributes: secret\n${cert}${authority.pem}` });
    expect(String(files.get('ca.pem')).match(/BEGIN/g)).toHaveLength(2);
    expect(String(files.get('ca.pem'))).not.toContain('secret');
    await expect(kitFor('acme', 'json', { authority: `${authority.pem}${key}` })).rejects.toMatchObject({
      code: 'kit-authority-unfit',
    });
    await expect(kitFor('acme', 'json', { authority: 'nothing' })).rejects.toThrow('holds no certificate');
  });

  it('has settings and scripts that are what they seem to be', async () => {
    const files = await kitFor('acme', 'avro', { authority: (await makeAuthority()).pem });
    unpack(files, folder);
    const check = (command: string, ...args: string[]) => spawnSync(command, args, { cwd: folder, encoding: 'utf8' });
    for (const name of files.keys()) {
      if (name.endsWith('.mjs')) expect([name, check(process.execPath, '--check', name).stderr]).toEqual([name, '']);
      if (name.endsWith('.sh')) expect([name, check('bash', '-n', name).stderr]).toEqual([name, '']);
    }
    const python = check('python3', '-c', 'import ast, sys; ast.parse(open("clients/python/client.py").read())');
    if (!python.error) expect(python.stderr).toBe('');
    const { services } = load(String(files.get('sandbox/compose.yaml'))) as {
      services: Record<string, { ports?: string[]; volumes?: string[]; image: string }>;
    };
    const ports = Object.values(services).flatMap((service) => service.ports ?? []);
    expect(ports.every((port) => port.startsWith('127.0.0.1:'))).toBe(true);
    const mounted = Object.values(services).flatMap((service) => service.volumes ?? []);
    const own = mounted.filter((volume) => volume.startsWith('./')).map((volume) => volume.split(':')[0]?.slice(2));
    expect(own.filter((path) => ![...files.keys()].some((name) => name.startsWith(`sandbox/${path}`)))).toEqual([]);
    const ours = load(readFileSync(join(ROOT, 'docker', 'compose.yaml'), 'utf8')) as { services: typeof services };
    for (const name of ['certificates', 'kafka', 'registry'])
      expect(services[name]?.image).toBe(ours.services[name]?.image);
  });
});

describe("the programs of the partner's kit", () => {
  it('are what their entry requires, with the packages that we have, as the lock file has them', () => {
    const { manifest, files } = programPackage(ROOT);
    const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { version: string }>;
    };
    expect(Object.keys(manifest.dependencies)).toEqual(['@platformatic/kafka', 'ajv', 'avsc', 'protobufjs', 'undici']);
    for (const [name, version] of Object.entries(manifest.dependencies))
      expect([name, version]).toEqual([name, packages[`node_modules/${name}`]?.version]);
    expect(manifest).not.toHaveProperty('scripts');
    // Whom npm warns is whom the program itself sends away.
    const [, least = ''] = /^>=(\d+\.\d+)$/.exec(manifest.engines.node) ?? [];
    const [major, minor] = least.split('.');
    const program = textOf(`package/bin/${manifest.name}.cjs`);
    expect(program).toContain(`if (major < ${major} || (major === ${major} && minor < ${minor})) {`);
    expect(program).toContain(`Node ${least} or newer is needed`);
    const rooms = new Set(files.filter((name) => name.startsWith('src/')).map((name) => name.split('/')[1]));
    expect([...rooms].sort()).toEqual(['contracts', 'messaging', 'platform', 'simulator']);
    expect(files.filter((name) => name.startsWith('src/messaging/') && !name.includes('/registry/'))).toEqual([]);
    const platform = files.filter((name) => name.startsWith('src/platform/'));
    expect(platform.filter((name) => !/^src\/platform\/(errors|clock|json|polling)\b/.test(name))).toEqual([]);
  });
});
