import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * What IANA has given out for the Internet (RFC 4291, 2.4). Ranges that mean something else are taken off by `range()`, which in turn takes
 * `::127.0.0.1` (IPv4-compatible, RFC 4291, 2.5.5.1) for an address of the Internet.
 */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** Public by its number, and inside of Azure the host's own service. */
const HOST_SERVICES: readonly string[] = ['168.63.129.16'];

/** With `::ffff:10.0.0.1` as the IPv4 address that a connection to it ends at. */
function parsed(address: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  return isIP(address) === 0 ? undefined : ipaddr.process(address);
}

/** Is this an address that anybody on the Internet may reach? Tunnels and translations of IPv4 (6to4, Teredo, NAT64) are none. */
export function isPublic(address: string): boolean {
  const ip = parsed(address);
  if (ip === undefined || ip.range() !== 'unicast' || HOST_SERVICES.includes(ip.toString())) return false;
  return ip.kind() === 'ipv4' || ip.match(GLOBAL_IPV6);
}

/** @param networks addresses or ranges like 10.1.0.0/16 (`WEBHOOK_ALLOWED_NETWORKS`) */
export function isWithin(address: string, networks: readonly string[]): boolean {
  const ip = parsed(address);
  return ip !== undefined && networks.some((network) => ip.kind() === kindOf(network) && ip.match(rangeOf(network)));
}

const kindOf = (network: string): string => (network.includes(':') ? 'ipv6' : 'ipv4');

const rangeOf = (network: string): [ipaddr.IPv4 | ipaddr.IPv6, number] =>
  ipaddr.parseCIDR(network.includes('/') ? network : `${network}/${network.includes(':') ? 128 : 32}`);

/** Where a request may go, by address, scheme and port; undefined: there. Completes "The webhook …". */
export function faultOfTarget(
  address: string,
  { protocol, port }: Pick<URL, 'protocol' | 'port'>,
  networks: readonly string[],
): string | undefined {
  if (isWithin(address, networks)) return undefined;
  if (!isPublic(address)) return 'must lead to a public address, or into a network of WEBHOOK_ALLOWED_NETWORKS';
  return faultOfOpenTarget({ protocol, port });
}

/** Below it live services of other kinds, which must not be written to by way of us. */
const FIRST_FREE_PORT = 1024;

/** What holds for every target outside the allowed networks. */
export function faultOfOpenTarget({ protocol, port }: Pick<URL, 'protocol' | 'port'>): string | undefined {
  if (protocol !== 'https:')
    return 'must begin with https:// (http:// goes only into a network of WEBHOOK_ALLOWED_NETWORKS)';
  // Empty: the scheme's own.
  return port === '' || port === '80' || Number(port) >= FIRST_FREE_PORT
    ? undefined
    : `must have no port below ${FIRST_FREE_PORT} other than 443 and 80`;
}
