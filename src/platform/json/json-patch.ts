/** One operation of a JSON Patch (RFC 6902). */
export type PatchOperation = { op: 'add' | 'replace'; path: string; value: unknown } | { op: 'remove'; path: string };

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** One more step of a JSON Pointer (RFC 6901): `~` and `/` are escaped. */
export const step = (pointer: string, token: string | number): string =>
  `${pointer}/${String(token).replaceAll('~', '~0').replaceAll('/', '~1')}`;

/**
 * What makes `after` of `before`, as a JSON Patch that a person can read: items of lists are compared by their place. Empty where both
 * are equal. Both are what JSON can say.
 */
export function diffOf(before: unknown, after: unknown, at = ''): PatchOperation[] {
  if (isObject(before) && isObject(after)) return membersDiff(before, after, at);
  if (Array.isArray(before) && Array.isArray(after)) return itemsDiff(before, after, at);
  return before === after ? [] : [{ op: 'replace', path: at, value: after }];
}

function membersDiff(before: Record<string, unknown>, after: Record<string, unknown>, at: string): PatchOperation[] {
  const names = Object.keys(before);
  return [
    ...names.flatMap((name): PatchOperation[] =>
      Object.hasOwn(after, name)
        ? diffOf(before[name], after[name], step(at, name))
        : [{ op: 'remove', path: step(at, name) }],
    ),
    ...Object.keys(after)
      .filter((name) => !Object.hasOwn(before, name))
      .map((name): PatchOperation => ({ op: 'add', path: step(at, name), value: after[name] })),
  ];
}

function itemsDiff(before: readonly unknown[], after: readonly unknown[], at: string): PatchOperation[] {
  const common = Math.min(before.length, after.length);
  const changed = before.slice(0, common).flatMap((item, n) => diffOf(item, after[n], step(at, n)));
  // From the end, so that no removal moves what a later one names.
  const removed = Array.from({ length: before.length - common }, (_, n): PatchOperation => {
    return { op: 'remove', path: step(at, before.length - 1 - n) };
  });
  const added = after.slice(common).map((value, n): PatchOperation => {
    return { op: 'add', path: step(at, common + n), value };
  });
  return [...changed, ...removed, ...added];
}

/** The JSON Pointer (RFC 6901) of a path, and the other way round: then indexes are texts, too. */
export const pointerOf = (path: readonly (string | number)[]): string => path.reduce<string>(step, '');
export const tokensOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));

/** What a JSON Pointer (RFC 6901) leads to; undefined where there is nothing. */
export function valueAt(document: unknown, pointer: string): unknown {
  let value = document;
  for (const name of tokensOf(pointer)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

/** Pointer to the first text (or name of a member) that a database can't store: NUL, or half a character. */
export function unstorableAt(value: unknown, at = ''): string | undefined {
  if (typeof value === 'string') return isStorable(value) ? undefined : at;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, member] of Object.entries(value) as [string, unknown][]) {
    if (!isStorable(name)) return at;
    const found = unstorableAt(member, step(at, name));
    if (found !== undefined) return found;
  }
  return undefined;
}

const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0');
