import { hostname, userInfo } from 'node:os';
import type { Caller } from '../staff';

/** Who asks the database itself, past the API: may everything, and stands in the audit as the machine's user. */
export function staffCaller(): Caller {
  const name = osUser();
  return { id: `cli:${name}`, name, role: 'admin', areas: null, partners: null, origin: hostname() };
}

/** In a container the user often has a number and no name. */
function osUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid-${process.getuid?.() ?? 'unknown'}`;
  }
}
