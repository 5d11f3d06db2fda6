/**
 * Functions made from text, for what every record of a partner runs through: an object whose members are written one by one
 * under names that come from a list takes seven times as long as a literal, and a short text eleven letters long half as long
 * as through Node's decoder. The text is made of numbers, and of names of our own contracts, which are checked; nothing that
 * a registry or a partner said is ever part of it.
 */
export function generated<T>(parameters: Readonly<Record<string, unknown>>, body: string): T {
  // eslint-disable-next-line @typescript-eslint/no-implied-eval
  const make = new Function(...Object.keys(parameters), `'use strict';\nreturn ${body};`) as (...all: unknown[]) => T;
  return make(...Object.values(parameters));
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

/** A member of a contract's document as a name in generated text. Throws for anything that is not a plain name. */
export function memberName(name: string): string {
  if (!NAME.test(name) || name === '__proto__') throw new Error(`${JSON.stringify(name)} is not a member's name`);
  return name;
}

/** Text that builds the object: `{ variable: member }` of members that are always there, and of those that may be undefined. */
export function objectText(always: readonly [string, string][], maybe: readonly [string, string][]): string {
  const entry = ([variable, member]: readonly [string, string]) => `${memberName(member)}: ${variable}`;
  const assign = ([variable, member]: readonly [string, string]) =>
    `if (${variable} !== undefined) object.${memberName(member)} = ${variable};`;
  return [`const object = { ${always.map(entry).join(', ')} };`, ...maybe.map(assign), 'return object;'].join('\n');
}
