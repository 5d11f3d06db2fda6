import { withoutAddress } from '../../../src/notifications/channels/addresses';
import { cpuMs } from '../../support/cpu-time';

describe('what a provider said', () => {
  it.each([
    ['550 5.1.1 <jane+orders@example.com> unknown', '550 5.1.1 <[address]> unknown'],
    ['JANE+ORDERS is nobody here', '[address] is nobody here'],
    ['see https://help.example/?to=jane%2Borders%40example.com', 'see https:[address]'],
    ['forwarded to mary@other.example', 'forwarded to [address]'],
    ['550 5.1.1 41793026727 unknown', '550 5.1.1 [number] unknown'],
    ['+41 79 302-67-27 and (0041) 79/302.67.27', '[number] and (0041) [number]'],
  ])('is kept without what is personal: %s', (said, kept) =>
    expect(withoutAddress(said, 'jane+orders@example.com')).toBe(kept),
  );

  it.each(['550 5.7.26 Unauthenticated', '550-5.7.509 Access denied', '421 4.7.28 Too many', '450 4.2.1 1 of 2'])(
    'is kept with the status that says what is wrong: %s',
    (said) => expect(withoutAddress(said, 'jane@example.com')).toBe(said),
  );

  it('costs next to nothing, however much it is', () => {
    const begun = cpuMs();
    withoutAddress('x'.repeat(1_000_000), 'jane@example.com');
    withoutAddress('1 '.repeat(500_000), 'jane@example.com');
    // Looked at in full it takes minutes.
    expect(cpuMs() - begun).toBeLessThan(2000);
  });

  it('shows no half of what was cut in the middle', () => {
    const said = `${'m'.repeat(60)}@other.example `.repeat(30);
    expect(withoutAddress(said, 'jane@example.com')).not.toContain('m');
  });

  it('is one line of 500 characters at most', () => {
    expect(withoutAddress('a\r\n\u0000b', 'jane@example.com')).toBe('a b');
    expect(withoutAddress('x '.repeat(1000), 'jane@example.com')).toHaveLength(500);
  });
});
