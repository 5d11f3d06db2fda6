import type { RawHeaders } from '../../contracts';

/** Header columns of a parked message, as the broker handed the headers out: a name may come several times. A value that was null is left out. */
export function storedHeaders(names: readonly Buffer[], values: readonly (Buffer | null)[]): RawHeaders {
  // A map, and members of its own in the end: a partner may call a header `constructor`, or `__proto__`.
  const headers = new Map<string, Buffer[]>();
  for (const [index, bytes] of names.entries()) {
    const name = bytes.toString();
    const value = values[index];
    const all = headers.get(name) ?? [];
    // Not a copy for each: a partner may send one name some hundred thousand times.
    if (value) all.push(value);
    headers.set(name, all);
  }
  return Object.fromEntries([...headers].map(([name, all]) => [name, all.length > 1 ? all : all[0]] as const));
}
