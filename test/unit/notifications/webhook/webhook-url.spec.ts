import { faultOfWebhookUrl } from '../../../../src/notifications/channels/webhook/webhook-url';

const NONE: string[] = [];
const OWN = ['127.0.0.0/8', '10.1.0.0/16'];

describe("a webhook's URL", () => {
  it.each([
    'https://example.com',
    'https://example.com/hooks?tenant=7',
    'https://8.8.8.8/',
    'https://example.com:8443/',
  ])('may be %s', (url) => expect(faultOfWebhookUrl(url, NONE)).toBeUndefined());

  it.each([
    ['', /must be a URL/],
    ['example.com/hooks', /must be a URL/],
    ['https://exa mple.com/', /must be a URL/],
    [' https://example.com/', /must be a URL/],
    ['https://example.com/\nhooks', /must be a URL/],
    ['https://exämple.com/', /ASCII/],
    ['https://', /must be a URL/],
    ['ftp://example.com/', /https/],
    ['javascript:alert(1)', /https/],
    ['file:///etc/passwd', /https/],
    ['http://example.com/', /must begin with https/],
    ['https://user:secret@example.com/', /no user name/],
    ['https://user@example.com/', /no user name/],
    ['https://example.com/#part', /fragment/],
    ['https://example.com/#', /fragment/],
    ['https://example.com:22/', /no port below 1024/],
    [`https://example.com/${'a'.repeat(2048)}`, /2048/],
  ])('can not be %s', (url, why) => expect(faultOfWebhookUrl(url, NONE)).toMatch(why));

  it.each([
    ...['127.0.0.1', '127.1', '0x7f.1', '0x7f000001', '2130706433', '017700000001', '127.0.0.1.', '0', '0.0.0.0'],
    ...['[::1]', '[::]', '[::ffff:127.0.0.1]', '[::127.0.0.1]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]', '[fe80::1]'],
    ...['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', '169.254.169.254', '10.1.1.1', '%6c%6fcalhost'],
  ])('can not lead to %s', (host) => {
    expect(faultOfWebhookUrl(`https://${host}/`, NONE)).toMatch(/public address/);
    expect(faultOfWebhookUrl(`http://${host}:8080/`, NONE)).toBeDefined();
  });

  it('may lead into an allowed network, also by http and at any port', () => {
    for (const url of ['http://127.0.0.1:25/', 'http://0x7f.1/', 'http://[::ffff:10.1.0.1]/', 'http://localhost:8080/'])
      expect(faultOfWebhookUrl(url, OWN)).toBeUndefined();
    expect(faultOfWebhookUrl('http://10.2.0.1/', OWN)).toMatch(/public address/);
    expect(faultOfWebhookUrl('http://8.8.8.8/', OWN)).toMatch(/https/);
  });

  it('is left to the connection where a name may lead into an allowed network', () => {
    expect(faultOfWebhookUrl('http://hooks.internal:25/', OWN)).toBeUndefined();
    expect(faultOfWebhookUrl('http://hooks.internal/', NONE)).toMatch(/https/);
  });
});
