import { addressFault } from '../../../src/notifications/domain/address';
import { cpuMs } from '../../support/cpu-time';

describe('an address', () => {
  const takes = (channel: 'email' | 'sms' | 'webhook', address: string) => addressFault(channel, address) === undefined;

  it.each([
    'ops@example.com',
    'first.last+tag@sub.example.co.uk',
    "o'brien@example.com",
    'grüße@müller.de',
    '用户@例子.中国',
    'a@xn--mller-kva.de',
    `${'a'.repeat(64)}@example.com`,
    'x@1.example.com',
  ])('of e-mail may be %j', (address) => expect(takes('email', address)).toBe(true));

  it.each([
    '',
    '@example.com',
    'ops@',
    'ops',
    'ops@localhost',
    'ops@[127.0.0.1]',
    'ops@127.0.0.1',
    'a@example.com,b@example.com',
    'a@example.com;b@example.com',
    'a@example.com b@example.com',
    'a@b@example.com',
    'Ops <ops@example.com>',
    '<ops@example.com>',
    'team: a@example.com;',
    '"ops desk"@example.com',
    '"ops\\"@example.com',
    'ops(desk)@example.com',
    'ops@example.com(desk)',
    '.ops@example.com',
    'ops.@example.com',
    'o..ps@example.com',
    'ops@-example.com',
    'ops@example-.com',
    'ops@example..com',
    'ops@example.com.',
    'ops@exam_ple.com',
    'ops@example.com\n',
    'ops@example.com\r\nBcc: b@example.com',
    'ops\r\n@example.com',
    'ops\0@example.com',
    'ops\u2028@example.com',
    'ops\u202e@example.com',
    'ops\u200b@example.com',
    'ops\ud800@example.com',
    'ops@exam\u00adple.com',
    'ops@example．com',
    `${'a'.repeat(65)}@example.com`,
    `a@${'a.'.repeat(130)}com`,
    `a@${'a'.repeat(64)}.com`,
  ])('of e-mail is not %j', (address) => expect(takes('email', address)).toBe(false));

  it.each([
    ['+4930123456', true],
    ['+123456789012345', true],
    ['+1234567890123456', false],
    ['+49301', false],
    ['+0301234567', false],
    ['0049301234567', false],
    ['+49 30 123456', false],
    ['+4930123456\n', false],
    ['+٤٩٣٠١٢٣٤٥٦', false],
  ])('of SMS %j: %s', (address, expected) => expect(takes('sms', address)).toBe(expected));

  it.each([
    ['https://example.com/hook?a=b', true],
    ['http://10.0.0.1/', true],
    ['ftp://example.com/', false],
    ['https://example.com/a b', false],
    ['https://example.com/\r\nx', false],
    ['https://exämple.com/', false],
  ])('of a webhook has the form of %j: %s', (address, expected) => expect(takes('webhook', address)).toBe(expected));

  it('is looked at in time that grows with its length, whatever it is', () => {
    const start = cpuMs();
    takes('email', `${'a.'.repeat(100_000)}@${'a-'.repeat(100_000)}`);
    takes('email', `${'a'.repeat(60)}@${'a-'.repeat(90)}`);
    takes('sms', `+${'1'.repeat(1_000_000)}`);
    takes('webhook', `https://${'a'.repeat(1_000_000)} `);
    expect(cpuMs() - start).toBeLessThan(1000);
  });
});
