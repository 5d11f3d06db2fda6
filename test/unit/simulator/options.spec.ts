import { parseOptions, UsageError } from '../../../src/simulator/options';

const least = ['--brokers', 'a:1,b:2', '--partner', 'acme'];

describe('the command line', () => {
  it('needs brokers and a partner, and names the group after the partner', () => {
    expect(parseOptions(least, {})).toMatchObject({
      brokers: ['a:1', 'b:2'],
      partners: ['acme'],
      group: 'acme.simulator',
    });
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
