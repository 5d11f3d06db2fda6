import type { AnyContract, JsonSchema } from './contract';

/** Keyword of a contract's JSON Schema: `true` where a text says something about a person. People see a mask there. */
export const PERSONAL_DATA = 'x-personal-data';

/** What people see where personal data stands. Within lists the indexes follow, so that an item which is moved keeps its own. */
export const MASK = '•••';
const IS_MASK = /^•••[\d.]*$/;
export const isMask = (text: string): boolean => IS_MASK.test(text);

/** Members and, as numbers, indexes that lead to a place of a document. */
export type Path = readonly (string | number)[];

/** A document as people see it, and what of it they do not. */
export interface Masked {
  document: unknown;
  hidden: Path[];
}

/**
 * Hides what the contract calls personal data, and all that it does not describe: members that it doesn't know, objects and lists
 * where it has a text or number. What it describes keeps its shape. Total: the document may be anything.
 */
export function mask(contract: AnyContract, document: unknown): Masked {
  const hidden: Path[] = [];
  return { document: masked(contract.jsonSchema, document, [], hidden), hidden };
}

/** {@link mask} for what stands, or would stand, at one place of a document of the contract. */
export function maskAt(contract: AnyContract, tokens: readonly string[], value: unknown): unknown {
  let schema: JsonSchema | undefined = contract.jsonSchema;
  const path: (string | number)[] = [];
  for (const token of tokens) {
    path.push(schema && isObject(schema['items']) ? Number(token) : token);
    schema = schema && inner(schema, token);
  }
  return masked(schema, value, path, []);
}

/** A document that somebody edited without seeing all of it. */
export interface Restored {
  document: unknown;
  /** Masks that stand for nothing of the original. */
  unresolved: Path[];
}

/** What is meant by an edited document that holds masks: each stands for what the original has there. Undoes {@link mask}. */
export function restore(contract: AnyContract, edited: unknown, original: unknown): Restored {
  // Looked up: who edits a document of many strange members leaves as many masks.
  const sources = new Map(mask(contract, original).hidden.map((place) => [placeOf(maskOf(place), place), place]));
  const unresolved: Path[] = [];
  const back = (value: unknown, path: Path): unknown => {
    if (typeof value === 'string' && isMask(value)) {
      const source = sources.get(placeOf(value, path));
      if (!source) unresolved.push(path);
      return source ? source.reduce<unknown>(memberOf, original) : value;
    }
    if (Array.isArray(value)) return value.map((item, n) => back(item, [...path, n]));
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, back(member, [...path, name])]));
  };
  return { document: back(edited, []), unresolved };
}

/** Does any document of this contract hold personal data? */
export function holdsPersonalData(contract: AnyContract): boolean {
  return isPersonal(contract.jsonSchema);
}

/** Does this document carry what is shown to nobody? */
export function isSecret({ secretWhen }: AnyContract, document: unknown): boolean {
  return (
    secretWhen !== undefined && isObject(document) && secretWhen.values.includes(String(document[secretWhen.member]))
  );
}

/** Every text at a place of personal data, also deeper than it should be. */
export function personalTexts(contract: AnyContract, document: unknown): { path: Path; text: string }[] {
  const found: { path: Path; text: string }[] = [];
  const look = (schema: JsonSchema | undefined, value: unknown, path: Path, within: boolean): void => {
    const personal = within || schema?.[PERSONAL_DATA] === true;
    if (!personal && !isPersonal(schema)) return;
    if (typeof value === 'string') found.push({ path, text: value });
    if (typeof value !== 'object' || value === null) return;
    for (const [name, member] of Object.entries(value))
      look(schema && inner(schema, name), member, [...path, Array.isArray(value) ? Number(name) : name], personal);
  };
  look(contract.jsonSchema, document, [], false);
  return found;
}

function masked(schema: JsonSchema | undefined, value: unknown, path: Path, hidden: Path[]): unknown {
  if (value === null || value === undefined) return value;
  if (schema && schema[PERSONAL_DATA] !== true) {
    const { items, properties } = schema;
    if (Array.isArray(value) && isObject(items))
      return value.map((item, n) => masked(items, item, [...path, n], hidden));
    if (isObject(value) && isObject(properties)) {
      const members = Object.entries(value).map(([name, member]) => {
        return [name, masked(inner(schema, name), member, [...path, name], hidden)];
      });
      return Object.fromEntries(members) as unknown;
    }
    // A text in place of an object that holds personal data is probably that.
    if (typeof value !== 'object' && !isPersonal(schema)) return value;
  }
  hidden.push(path);
  return maskOf(path);
}

/** The schema of a member or item; undefined where there is none. */
function inner({ items, properties }: JsonSchema, name: string): JsonSchema | undefined {
  if (isObject(items)) return items;
  const found = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  return isObject(found) ? found : undefined;
}

/** Asked of each document that is written. */
const known = new WeakMap<JsonSchema, boolean>();

function isPersonal(schema: unknown): boolean {
  if (!isObject(schema)) return false;
  let answer = known.get(schema);
  if (answer === undefined) {
    const { items, properties } = schema;
    const within = isObject(properties) ? Object.values(properties) : [];
    answer = schema[PERSONAL_DATA] === true || isPersonal(items) || within.some(isPersonal);
    known.set(schema, answer);
  }
  return answer;
}

const maskOf = (path: Path): string => MASK + path.filter((token) => typeof token === 'number').join('.');
/** Equal for a mask and what it stands for, in whichever place of its list the item is now. */
const placeOf = (mask: string, path: Path): string =>
  JSON.stringify([mask, ...path.filter((token) => typeof token === 'string')]);
export const memberOf = (value: unknown, name: string | number): unknown =>
  (value as Record<string | number, unknown>)[name];
const isObject = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
