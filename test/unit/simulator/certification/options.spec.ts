import { parseCertify } from '../../../../src/simulator/certification/options';
import { parseCompany } from '../../../../src/simulator/company/options';
import { chosen, PROGRAMS } from '../../../../src/simulator/programs';
import { parseOptions } from '../../../../src/simulator/options';
import { UsageError } from '../../../../src/simulator/usage';

describe('the command line of a certification', () => {
  it('leaves brokers and format to whoever runs it, where they are not said', () => {
    const { options } = parseCertify(['acme'], {}) ?? {};
    expect(options).toMatchObject({ partner: 'acme', access: undefined, format: undefined, runs: 1, isBeside: false });
    const { options: said } =
      parseCertify(['acme', '--brokers', 'a:1', '--format', 'protobuf', '--runs', '2'], {}) ?? {};
    expect(said).toMatchObject({ format: 'protobuf', runs: 2, access: { brokers: ['a:1'], account: undefined } });
  });

  it('is for partners, who answer orders, not for our own systems', () => {
    const own = 'company" are the company\'s own systems, which answer no orders';
    expect(() => parseCertify(['company'], {})).toThrow(own);
    expect(() => parseCompany(['company', '--brokers', 'a:1', '--format', 'json'], {})).toThrow(own);
    expect(() => parseOptions(['--brokers', 'a:1', '--partner', 'company=json'], {})).toThrow(own);
  });

  it('hands back the flags of whoever runs it', () => {
    const more = { sandbox: { type: 'boolean' as const, default: false } };
    expect(parseCertify(['acme', '--sandbox'], {}, more)?.values['sandbox']).toBe(true);
    expect(() => parseCertify(['acme', '--sandbox'], {})).toThrow(UsageError);
  });

  it('takes the partner’s account with its password from the environment alone', () => {
    const args = ['acme', '--partner-username', 'acme.1'];
    expect(() => parseCertify(args, {})).toThrow('PARTNER_PASSWORD');
    const { options } = parseCertify(args, { PARTNER_PASSWORD: 'secret' }) ?? {};
    expect(options?.partnerAccount?.credentials()).toEqual({ username: 'acme.1', password: 'secret' });
  });

  it('finds out before anything is tried that a report can not be written', () => {
    expect(() => parseCertify(['acme', '--junit', '/no/such/folder/junit.xml'], {})).toThrow(
      "--junit can't be written (ENOENT: /no/such/folder/junit.xml).",
    );
    expect(() => parseCertify(['acme', '--ctrf', '/'], {})).toThrow("--ctrf can't be written (EISDIR: /).");
  });

  it('names all faults at once', () => {
    const faults = (args: readonly string[]) => {
      try {
        parseCertify(args, {});
        return [];
      } catch (error) {
        return (error as UsageError).faults.map((fault) => fault.split(' ')[0]);
      }
    };
    expect(faults(['A.B', '--runs', '0', '--format', 'xml', '--within-ms', 'soon'])).toEqual([
      ...['--partner', '--format', '--runs', '--within-ms'],
    ]);
    expect(faults([])).toEqual(['One']);
    expect(faults(['acme', 'globex'])).toEqual(['One']);
  });
});

describe('the command line of the company', () => {
  const least = ['acme', '--brokers', 'a:1', '--format', 'json'];

  it('asks one partner one order a second, of the article that the scenario is about', () => {
    expect(parseCompany(least, {})).toMatchObject({
      play: 'accept',
      orders: 1,
      rate: 1,
      article: undefined,
      stays: false,
    });
  });

  it('needs a registry for all but json, and knows its scenarios', () => {
    expect(() => parseCompany(least.slice(0, 3), {})).toThrow('--registry is missing: acme speaks avro');
    expect(() => parseCompany([...least, '--scenario', 'quarrel'], {})).toThrow('accept, reject, change, cancel');
  });
});

it('plays the partner where no program is named', () => {
  expect(chosen(['--brokers', 'a:1'])).toEqual({ program: PROGRAMS.partner, args: ['--brokers', 'a:1'] });
  expect(chosen(['certify', 'acme'])).toEqual({ program: PROGRAMS.certify, args: ['acme'] });
  expect(chosen([])).toEqual({ program: PROGRAMS.partner, args: [] });
});
