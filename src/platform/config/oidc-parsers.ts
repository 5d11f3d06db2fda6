import { isIPv4 } from 'node:net';

const fail = (rule: string): never => {
  throw new RangeError(rule);
};

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || (isIPv4(host) && host.startsWith('127.'));

/** Kept as it is written: an issuer is compared sign by sign. In clear only on this machine: who is on the wire could put keys of their own in it. */
export const issuerUrl = (raw: string): string => {
  if (raw === '') return raw;
  const url = URL.parse(raw);
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
  return url && isSafe && !url.username && !url.password && !/[?#]/.test(raw)
    ? raw
    : fail('must be a https:// URL without user name, password and query (http:// on this machine only)');
};

/** `a.b`, or a JSON array of names; an empty text is none. */
export const claimPath = (raw: string): readonly string[] => {
  const path = raw.startsWith('[') ? jsonOf(raw) : raw === '' ? [] : raw.split('.');
  const isPath = Array.isArray(path) && path.every((name): name is string => typeof name === 'string' && name !== '');
  return isPath && !(raw.includes('://') && !raw.startsWith('['))
    ? path
    : fail('must be names separated by dots, or a JSON array of names, which may contain dots');
};

const ROLES = ['viewer', 'support', 'operator', 'admin'] as const;
type RoleName = (typeof ROLES)[number];

/** `name=role` pairs; the last `=` parts them. */
export const roleMap = (raw: string): readonly (readonly [name: string, role: RoleName])[] =>
  raw === ''
    ? []
    : raw.split(',').map((pair) => {
        const [, name, word] = /^\s*(.+)=(\w+)\s*$/.exec(pair) ?? [];
        const role = ROLES.find((known) => known === word);
        return name && role ? [name, role] : fail(`must be a list of name=role, the roles being ${ROLES.join(', ')}`);
      });

function jsonOf(raw: string): unknown {
  try {
    return JSON.parse(raw);
  } catch {
    return undefined;
  }
}
