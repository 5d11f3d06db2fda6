import { isIP } from 'node:net';

/** One environment variable. `parse` returns the value or throws a RangeError whose message completes "NAME …". */
export interface Key<T> {
  env: string;
  parse: (raw: string) => T;
  /** Undefined: the variable is required. */
  fallback: string | undefined;
  /** A process that has no other role does without: its value is that of an empty text. */
  unneededBy?: readonly Role[];
  unit: string;
  doc: string;
  secret?: boolean;
}

export const ROLES = ['api', 'relay', 'consumer', 'notifier'] as const;
export type Role = (typeof ROLES)[number];

const fail = (rule: string): never => {
  throw new RangeError(rule);
};

export const text = (max: number) => (raw: string) =>
  raw.length <= max ? raw : fail(`must have at most ${max} characters`);

export const integer = (min: number, max: number) => (raw: string) =>
  /^\d{1,15}$/.test(raw) && +raw >= min && +raw <= max ? +raw : fail(`must be a whole number from ${min} to ${max}`);

export const bytes = integer;

/** Empty: 0, in whose place loadConfig puts what follows from other keys. */
export const integerOrEmpty = (min: number, max: number) => (raw: string) => (raw === '' ? 0 : integer(min, max)(raw));

export const bool = (raw: string) => raw === 'true' || (raw === 'false' ? false : fail('must be true or false'));

export const oneOf =
  <T extends string>(...allowed: T[]) =>
  (raw: string): T =>
    allowed.find((value) => value === raw) ?? fail(`must be one of ${allowed.filter(Boolean).join(', ')}`);

const hostPorts = (raw: string): string[] => {
  const list = raw.split(',').map((part) => part.trim());
  const isAddress = (part: string) => {
    const port = /^(?:\[[0-9a-fA-F:]+\]|[^\s:,/]+):(\d{1,5})$/.exec(part)?.[1];
    return port !== undefined && +port > 0 && +port < 65_536;
  };
  return list.every(isAddress) ? list : fail('must be a list of host:port, separated by commas');
};

/** An empty text is an empty list. */
export const hostPortsOrEmpty = (raw: string): string[] => (raw === '' ? [] : hostPorts(raw));

/** Base URLs; an empty text is no URL. Credentials have keys of their own, since whole URLs are printed. */
export const httpUrls = (raw: string): readonly string[] => {
  const list = raw === '' ? [] : raw.split(',').map((part) => part.trim());
  const isBase = (part: string) => {
    const url = URL.canParse(part) ? new URL(part) : undefined;
    return url !== undefined && /^https?:$/.test(url.protocol) && !url.username && !url.password && !/[?#]/.test(part);
  };
  return list.every(isBase)
    ? list.map((part) => part.replace(/\/+$/, ''))
    : fail('must be a list of http:// or https:// URLs without user name, password and query, separated by commas');
};

/** IP addresses and ranges in CIDR form; names such as `loopback` are none, and /0 would be everybody. */
export const addressRanges = (raw: string): readonly string[] => {
  const list = raw === '' ? [] : raw.split(',').map((part) => part.trim());
  const isRange = (part: string) => {
    const [, address = '', prefix] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(part) ?? [];
    const version = isIP(address);
    const [least, most] = [1, version === 4 ? 32 : 128];
    return version !== 0 && (prefix === undefined || (Number(prefix) >= least && Number(prefix) <= most));
  };
  return list.every(isRange) ? list : fail('must be a list of IP addresses or ranges like 10.0.0.0/8');
};

/** What an Authorization header can carry after "Bearer" (RFC 6750). */
export const token = (raw: string) =>
  raw.length <= 8192 && /^[A-Za-z0-9\-._~+/]*=*$/.test(raw) ? raw : fail('must be a bearer token (RFC 6750)');

/** Keys of 32 bytes, base64, separated by commas. The text comes back as it is: it may stand in a file that changes. */
export const sealingKeys = (raw: string): string =>
  raw === '' || raw.split(',').every((part) => /^[A-Za-z0-9+/]{43}=$/.test(part.trim()))
    ? raw
    : fail(
        'must be a list of keys, separated by commas, each of 32 bytes in base64 ("openssl rand -base64 32" makes one)',
      );

/** Who e-mails come from: one address, with a name before it in angle brackets or without. */
export const sender = (raw: string) => {
  const address = '[^\\s<>@,;:"]+@[^\\s<>@,;:"]+';
  const isOne = new RegExp(`^(${address}|([^<>"\\r\\n]*|"[^"\\r\\n]*")\\s*<${address}>)$`).test(raw);
  return raw === '' || (raw.length <= 320 && isOne) ? raw : fail('must be one address, or a name with <an address>');
};

export const postgresUrl = (raw: string): string => {
  const url = URL.canParse(raw) ? new URL(raw) : undefined;
  return url && /^postgres(ql)?:$/.test(url.protocol) && url.pathname.length > 1
    ? raw
    : fail('must be a URL like postgres://user:password@host:5432/database');
};

export const roles = (raw: string): readonly Role[] => {
  const list = raw.split(',').map((part) => part.trim());
  const unknown = list.filter((part) => !ROLES.some((role) => role === part));
  if (unknown.length > 0) fail(`knows only ${ROLES.join(', ')}; not ${unknown.map((part) => `"${part}"`).join(', ')}`);
  return ROLES.filter((role) => list.includes(role));
};
