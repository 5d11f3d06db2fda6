import { faultOfTarget, isPublic, isWithin } from '../../../../src/notifications/channels/webhook/networks';

describe('a public address', () => {
  it.each(['8.8.8.8', '93.184.216.34', '2606:4700::1', '2a00:1450:4001:82a::200e', '::ffff:8.8.8.8'])(
    'is %s',
    (address) => expect(isPublic(address)).toBe(true),
  );

  it.each([
    ['loopback', '127.0.0.1', '127.255.1.2', '::1'],
    ['no address', '0.0.0.0', '0.1.2.3', '::'],
    ['private', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fc00::1', 'fd00:ec2::254', 'fec0::1'],
    ['link-local, and the metadata of clouds', '169.254.169.254', 'fe80::1', 'fe80::1%eth0'],
    ['shared by carriers', '100.64.0.1', '100.100.100.200'],
    ['for protocols, documents, tests', '192.0.0.192', '192.0.2.1', '198.18.0.1', '198.51.100.1', '203.0.113.1'],
    ['for documents, in IPv6', '2001:db8::1', '3fff::1'],
    ['multicast, reserved, broadcast', '224.0.0.1', '240.0.0.1', '255.255.255.255', 'ff02::1'],
    [
      'loopback, mapped or compatible',
      '::ffff:127.0.0.1',
      '::ffff:7f00:1',
      '::127.0.0.1',
      '::7f00:1',
      '::ffff:0:127.0.0.1',
    ],
    ['private by a tunnel or a translation', '64:ff9b::a00:1', '64:ff9b:1::1', '2002:a00:1::', '2001:0:4136::1'],
    ['given to nobody', '4000::1', '100::1', '5f00::1'],
    ["Azure's own", '168.63.129.16', '::ffff:168.63.129.16'],
    ['no address at all', 'localhost', '', '1.2.3', '0x7f.1', '08.8.8.8'],
  ])('is none that is %s', (_, ...addresses) => {
    expect(addresses.filter(isPublic)).toEqual([]);
  });
});

describe('an allowed network', () => {
  it('holds its addresses, in either notation, and no others', () => {
    expect(isWithin('10.1.2.3', ['10.1.0.0/16'])).toBe(true);
    expect(isWithin('::ffff:10.1.2.3', ['10.1.0.0/16'])).toBe(true);
    expect(isWithin('10.2.2.3', ['10.1.0.0/16'])).toBe(false);
    expect(isWithin('fd00::7', ['10.1.0.0/16', 'fd00::/8'])).toBe(true);
    expect(isWithin('127.0.0.1', ['::1'])).toBe(false);
    expect(isWithin('127.0.0.2', ['127.0.0.1'])).toBe(false);
    expect(isWithin('localhost', ['127.0.0.1'])).toBe(false);
  });
});

describe('where a request may go', () => {
  const fault = (address: string, url: string, allowed: string[] = []) => faultOfTarget(address, new URL(url), allowed);

  it('is a public address by https, at its port or one that anybody may open', () => {
    expect(fault('8.8.8.8', 'https://a.example/')).toBeUndefined();
    expect(fault('8.8.8.8', 'https://a.example:8443/')).toBeUndefined();
    expect(fault('8.8.8.8', 'https://a.example:80/')).toBeUndefined();
    expect(fault('8.8.8.8', 'https://a.example:25/')).toBe('must have no port below 1024 other than 443 and 80');
    expect(fault('8.8.8.8', 'http://a.example/')).toMatch(/^must begin with https/);
  });

  it('is anything within an allowed network', () => {
    expect(fault('10.1.2.3', 'http://a.example:25/', ['10.1.0.0/16'])).toBeUndefined();
    expect(fault('10.2.2.3', 'https://a.example/', ['10.1.0.0/16'])).toMatch(/public address/);
    expect(fault('8.8.8.8', 'http://a.example/', ['10.1.0.0/16'])).toMatch(/^must begin with https/);
  });
});
