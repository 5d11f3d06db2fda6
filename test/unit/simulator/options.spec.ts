import { parseOptions, UsageError } from '../../../src/simulator/options';

const least = ['--brokers', 'a:1,b:2', '--partner', 'acme=json'];

describe('the command line', () => {
  it('needs brokers and a partner, and names the group after the partner', () => {
    expect(parseOptions(least, {})).toMatchObject({
      brokers: ['a:1', 'b:2'],
      parties: [{ id: 'acme', format: 'json' }],
      group: 'acme.simulator',
    });
  });

  it('takes a format for each partner, and needs a registry for all but json', () => {
    const args = ['--brokers', 'a:1', '--partner', 'acme', '--partner', 'globex=protobuf', '--partner', 'initech=json'];
    expect(() => parseOptions(args, {})).toThrow(/--registry is missing: acme speaks avro/);
    const options = parseOptions([...args, '--registry', 'http://r:8081/a,https://s'], {});
    expect(options?.parties.map(({ format }) => format)).toEqual(['avro', 'protobuf', 'json']);
    expect(options?.registry?.schemaRegistryUrls).toEqual(['http://r:8081/a', 'https://s']);
    expect(() => parseOptions([...least.with(-1, 'acme=xml')], {})).toThrow('avro, protobuf, json-schema, json');
  });

  it('takes credentials of the registry from the environment alone', () => {
    const registry = (url: string) => parseOptions([...least, '--registry', url], { SIMULATOR_REGISTRY_TOKEN: 't' });
    expect(registry('http://r')?.registry).toMatchObject({ schemaRegistryToken: 't' });
    expect(() => registry('http://name:secret@r')).toThrow('without credentials');
  });

  it('reads what it says to cancellations as it reads behaviours', () => {
    const args = [...least, '--cancellation', 'agree=3,refuse', '--cancellation-rule', 'KEEP-*=refuse'];
    const { cancellation } = parseOptions(args, {}) ?? {};
    expect(cancellation?.weights).toEqual([
      { behaviour: 'agree', weight: 3 },
      { behaviour: 'refuse', weight: 1 },
    ]);
    expect(cancellation?.rules[0]?.weights).toEqual([{ behaviour: 'refuse', weight: 1 }]);
    expect(() => parseOptions([...least, '--cancellation', 'maybe'], {})).toThrow('--cancellation knows agree, refuse');
  });

  it('takes the password from the environment alone', () => {
    const args = [...least, '--sasl-mechanism', 'scram-sha-512', '--sasl-username', 'acme', '--ca', 'ca.pem'];
    expect(parseOptions(args, { SIMULATOR_SASL_PASSWORD: 'secret' })).toMatchObject({
      tls: true,
      sasl: { mechanism: 'SCRAM-SHA-512', username: 'acme', password: 'secret' },
    });
    expect(() => parseOptions(args, {})).toThrow('SIMULATOR_SASL_PASSWORD');
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
