import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseOptions } from '../../../src/simulator/options';
import { UsageError } from '../../../src/simulator/usage';

const folder = mkdtempSync(join(tmpdir(), 'parley-options-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = (name: string, content: string) => {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
};
/** Of the one partner that is meant. */
const parsed = (args: readonly string[], env: NodeJS.ProcessEnv = {}) => parseOptions(args, env)?.[0];

const least = ['--brokers', 'a:1,b:2', '--partner', 'acme=json'];

describe('the command line', () => {
  it('needs brokers and a partner, and names the group after the partner', () => {
    expect(parsed(least)).toMatchObject({
      brokers: ['a:1', 'b:2'],
      parties: [{ id: 'acme', format: 'json' }],
      group: 'partner.acme.simulator',
    });
  });

  it('takes a format for each partner, and needs a registry for all but json', () => {
    const args = ['--brokers', 'a:1', '--partner', 'acme', '--partner', 'globex=protobuf', '--partner', 'initech=json'];
    expect(() => parseOptions(args, {})).toThrow(/--registry is missing: acme speaks avro/);
    const options = parsed([...args, '--registry', 'http://r:8081/a,https://s']);
    expect(options?.parties.map(({ format }) => format)).toEqual(['avro', 'protobuf', 'json']);
    expect(options?.registry?.schemaRegistryUrls).toEqual(['http://r:8081/a', 'https://s']);
    expect(() => parseOptions([...least.with(-1, 'acme=xml')], {})).toThrow('avro, protobuf, json-schema, json');
  });

  it('takes credentials of the registry from the environment alone', () => {
    const registry = (url: string) => parsed([...least, '--registry', url], { SIMULATOR_REGISTRY_TOKEN: 't' });
    expect(registry('http://r')?.registry).toMatchObject({ schemaRegistryToken: 't' });
    expect(() => registry('http://name:secret@r')).toThrow('without credentials');
  });

  it('reads what it says to cancellations as it reads behaviours', () => {
    const args = [...least, '--cancellation', 'agree=3,refuse', '--cancellation-rule', 'KEEP-*=refuse'];
    const { cancellation } = parsed(args) ?? {};
    expect(cancellation?.weights).toEqual([
      { behaviour: 'agree', weight: 3 },
      { behaviour: 'refuse', weight: 1 },
    ]);
    expect(cancellation?.rules[0]?.weights).toEqual([{ behaviour: 'refuse', weight: 1 }]);
    expect(() => parseOptions([...least, '--cancellation', 'maybe'], {})).toThrow('--cancellation knows agree, refuse');
  });

  describe('an account', () => {
    const args = [...least, '--username', 'acme.1', '--ca', file('ca.pem', 'PEM')];

    it('has its password from the environment or from a file, never from the command line', () => {
      const account = parsed(args, { PARTNER_PASSWORD: 'secret' })?.account;
      expect(account?.mechanism).toBe('SCRAM-SHA-512');
      expect(account?.credentials()).toEqual({ username: 'acme.1', password: 'secret' });
      expect(() => parseOptions(args, {})).toThrow('PARTNER_PASSWORD_FILE');
      expect(() => parseOptions([...args, '--password', 'secret'], {})).toThrow(UsageError);
    });

    it('follows the file of its password', () => {
      const account = parsed(args, { PARTNER_PASSWORD_FILE: file('password', 'old\n') })?.account;
      expect(account?.credentials().password).toBe('old');
      file('password', 'new\n');
      expect(account?.credentials().password).toBe('new');
    });

    it('may use the groups of its partner alone', () => {
      const env = { PARTNER_PASSWORD: 'secret' };
      expect(parsed([...args, '--group', 'partner.acme.tests'], env)?.group).toBe('partner.acme.tests');
      expect(() => parseOptions([...args, '--group', 'partner.acme-eu.tests'], env)).toThrow(
        'begin with partner.acme.',
      );
      expect(() => parseOptions([...args, '--partner', 'globex=json'], env)).toThrow('--accounts');
    });

    it('is one for each partner in a file of several', () => {
      const both = [...least, '--partner', 'globex=json', '--accounts'];
      const accounts = {
        acme: { username: 'acme.1', password: 'a' },
        globex: { username: 'globex.2', password: 'g' },
      };
      const options = parseOptions([...both, file('accounts.json', JSON.stringify(accounts))], {});
      expect(options?.map(({ parties, group }) => [parties[0]?.id, group])).toEqual([
        ['acme', 'partner.acme.simulator'],
        ['globex', 'partner.globex.simulator'],
      ]);
      expect(options?.map(({ account }) => account?.credentials().username)).toEqual(['acme.1', 'globex.2']);
      const broken = file('broken.json', '{"acme": {"username": "acme.1", "password": "secret",}}');
      expect(() => parseOptions([...both, broken], {})).toThrow(/--accounts finds no JSON in (?!.*secret)/);
      const less = file('less.json', JSON.stringify({ acme: accounts.acme }));
      expect(() => parseOptions([...both, less], {})).toThrow('no username and password of globex');
    });
  });

  it('names all faults at once', () => {
    const args = ['--brokers', 'nowhere', '--partner', 'A.B', '--behaviour', 'moody', '--delay-ms', '-1s'];
    expect(() => parseOptions(args.with(-1, 'soon'), {})).toThrow(UsageError);
    try {
      parseOptions(args.with(-1, 'soon'), {});
    } catch (error) {
      expect((error as UsageError).faults.map((fault) => fault.split(' ')[0])).toEqual([
        '--brokers',
        '--partner',
        '--behaviour',
        '--delay-ms',
      ]);
    }
  });

  it('answers a wish for help with nothing to run', () => {
    expect(parseOptions(['--help'], {})).toBeUndefined();
  });
});
