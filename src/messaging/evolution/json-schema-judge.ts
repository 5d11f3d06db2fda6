import type { Break, Rule } from './break';
import {
  ANNOTATIONS,
  canonical,
  canonicalData,
  isObject,
  type JsonObject,
  member,
  readJsonSchema,
  referencesIn,
} from './json-schema';

type Found = (place: string, rule: Rule, detail: string) => void;

/** Keywords whose larger value takes fewer documents, with what their absence means; and the other way round. */
const LOWER_BOUNDS: Readonly<Record<string, number>> = {
  minimum: -Infinity,
  exclusiveMinimum: -Infinity,
  minLength: 0,
  minItems: 0,
  minProperties: 0,
};
const UPPER_BOUNDS = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'];
/** Compared by {@link judgeSchema} or {@link judgeMembers}; what is not here must be equal letter for letter. */
const COMPARED = new Set([
  ...['type', 'properties', 'required', 'additionalProperties', 'unevaluatedProperties', 'items'],
  ...['enum', 'const', 'pattern', 'format', 'multipleOf', 'uniqueItems'],
  ...Object.keys(LOWER_BOUNDS),
  ...UPPER_BOUNDS,
]);

/**
 * What breaks between two versions of a JSON Schema, in either direction: each must take the documents of the other. One
 * thing is taken on trust, as open content needs it: that nobody sent a member before its name was given a meaning.
 */
export function judgeJsonSchema(older: string, newer: string): Break[] {
  const [then, now] = [readJsonSchema(older), readJsonSchema(newer)];
  const breaks: Break[] = [];
  const found: Found = (place, rule, detail) => void breaks.push({ place, rule, detail });
  const dialect = (schema: unknown) => (isObject(schema) ? schema['$schema'] : undefined);
  if (dialect(then) !== dialect(now))
    found('', 'dialect-changed', 'Its $schema is another: the same words may mean something else.');
  const [thenRoot, nowRoot] = [then, now].map(withoutHead);
  const elsewhere = [...referencesIn(thenRoot), ...referencesIn(nowRoot)].find(
    (target) => !/^#\/(\$defs|definitions)\//.test(target),
  );
  if (elsewhere === undefined) judgeSchema('', thenRoot, nowRoot, found);
  else if (canonical(thenRoot) !== canonical(nowRoot))
    found('', 'not-comparable', `It refers to ${elsewhere}, outside its own $defs: leave such a schema as it is.`);
  return breaks;
}

/** `$id` names the document and `$schema` its dialect; further down both would change what references mean. */
function withoutHead(schema: unknown): unknown {
  if (!isObject(schema)) return schema;
  return Object.fromEntries(Object.entries(schema).filter(([name]) => name !== '$schema' && name !== '$id'));
}

function judgeSchema(place: string, then: unknown, now: unknown, found: Found): void {
  // `true` takes everything, as does a schema without keywords.
  const [old, recent] = [then === true ? {} : then, now === true ? {} : now];
  if (!isObject(old) || !isObject(recent)) {
    if (canonical(old) !== canonical(recent))
      found(place, 'not-comparable', 'One version forbids what the other allows or describes.');
    return;
  }
  judgeType(place, old, recent, found);
  judgeValues(place, old, recent, found);
  judgeBounds(place, old, recent, found);
  judgeMembers(place, old, recent, found);
  judgeItems(place, old, recent, found);
  for (const keyword of new Set([...Object.keys(old), ...Object.keys(recent)])) {
    if (COMPARED.has(keyword) || ANNOTATIONS.has(keyword)) continue;
    if (canonical({ [keyword]: member(old, keyword) }) !== canonical({ [keyword]: member(recent, keyword) }))
      found(place, 'not-comparable', `"${keyword}" changed, which is compared letter for letter only.`);
  }
}

function judgeItems(
  place: string,
  { items: then, ...old }: JsonObject,
  { items: now, ...recent }: JsonObject,
  found: Found,
): void {
  const comesOrGoes = (then === undefined) !== (now === undefined);
  // The form by place of older drafts; or what counts as looked at changes with the keyword alone.
  if (
    Array.isArray(then) ||
    Array.isArray(now) ||
    (comesOrGoes && ('unevaluatedItems' in old || 'unevaluatedItems' in recent))
  ) {
    if (canonical(then) !== canonical(now)) found(place, 'not-comparable', 'Its items changed.');
  } else if (then !== undefined || now !== undefined) judgeSchema(`${place}[]`, then ?? true, now ?? true, found);
}

function judgeType(place: string, then: JsonObject, now: JsonObject, found: Found): void {
  const types = ({ type }: JsonObject) =>
    (type === undefined ? ['any'] : [type].flat()).map(textOf).toSorted().join(' or ');
  if (types(then) !== types(now)) found(place, 'type-changed', `Its type was ${types(then)} and is ${types(now)}.`);
}

function judgeValues(place: string, then: JsonObject, now: JsonObject, found: Found): void {
  const text = (value: unknown) => (value === undefined ? 'none' : JSON.stringify(canonicalData(value)).slice(0, 100));
  const differ = (keyword: string) => text(then[keyword]) !== text(now[keyword]);
  const say = (keyword: string) => `Its ${keyword} was ${text(then[keyword])} and is ${text(now[keyword])}.`;
  if (differ('pattern')) found(place, 'pattern-changed', say('pattern'));
  for (const keyword of ['const', 'format', 'multipleOf'])
    if (differ(keyword)) found(place, 'value-changed', say(keyword));
  if ((then['uniqueItems'] === true) !== (now['uniqueItems'] === true))
    found(place, 'value-changed', say('uniqueItems'));
  if ((then['enum'] === undefined) !== (now['enum'] === undefined)) found(place, 'value-changed', say('enum'));
  else {
    const [olds, news] = [valuesOf(then['enum']), valuesOf(now['enum'])];
    for (const value of news) if (!olds.has(value)) found(place, 'enum-value-added', `Older readers refuse ${value}.`);
    for (const value of olds) if (!news.has(value)) found(place, 'enum-value-removed', `Older records hold ${value}.`);
  }
}

const valuesOf = (list: unknown) =>
  new Set(Array.isArray(list) ? list.map((value) => JSON.stringify(canonicalData(value))) : []);

function judgeBounds(place: string, then: JsonObject, now: JsonObject, found: Found): void {
  const say = (keyword: string) => {
    const value = (schema: JsonObject) => (schema[keyword] === undefined ? 'not set' : JSON.stringify(schema[keyword]));
    return `${keyword} was ${value(then)} and is ${value(now)}`;
  };
  const judge = (keyword: string, none: number, sign: 1 | -1) => {
    const [old, recent] = [then[keyword] ?? none, now[keyword] ?? none];
    if (typeof old !== 'number' || typeof recent !== 'number') {
      // Older drafts have `exclusiveMinimum: true`.
      if (old !== recent) found(place, 'not-comparable', `${say(keyword)}.`);
    } else if (sign * recent > sign * old)
      found(place, 'bound-narrowed', `${say(keyword)}: older records may break it.`);
    else if (sign * recent < sign * old)
      found(place, 'bound-widened', `${say(keyword)}: older readers refuse what it now takes.`);
  };
  for (const [keyword, none] of Object.entries(LOWER_BOUNDS)) judge(keyword, none, 1);
  for (const keyword of UPPER_BOUNDS) judge(keyword, Infinity, -1);
}

function judgeMembers(place: string, then: JsonObject, now: JsonObject, found: Found): void {
  const content = contentOf(then);
  judgeContent(place, then, now, found);
  const [olds, news] = [membersOf(then), membersOf(now)];
  const [needed, needs] = [requiredOf(then), requiredOf(now)];
  for (const name of new Set([...Object.keys(olds), ...Object.keys(news), ...needed, ...needs])) {
    const where = place === '' ? name : `${place}.${name}`;
    if (needs.has(name) && !needed.has(name))
      found(where, 'field-added-required', 'It is required now, and older records may lack it.');
    if (needed.has(name) && !needs.has(name))
      found(
        where,
        'field-removed-required',
        'It is not required any more, and older readers refuse a document without it.',
      );
    const [was, is] = [Object.hasOwn(olds, name), Object.hasOwn(news, name)];
    if (was && is) judgeSchema(where, olds[name], news[name], found);
    else if (was || is) judgeComing(where, is, content, found);
  }
}

/**
 * A member that is described in one of the two versions only. Whatever else of the schema speaks of it (conditions, patterns
 * of names, numbers of members) is the same in both, and so says the same of a document in both.
 */
function judgeComing(where: string, added: boolean, content: string, found: Found): void {
  if (content === CLOSED && added)
    found(where, 'field-added-closed', 'Older readers refuse members that they do not know.');
  else if (content === CLOSED)
    found(where, 'field-removed-closed', 'Members that are not known are refused, and older records may hold it.');
  else if (content !== OPEN) found(where, 'not-comparable', 'Members that are not named have rules of their own here.');
}

const OPEN = 'open';
const CLOSED = 'closed';

/** What becomes of members that are not named. */
const contentRules = (schema: JsonObject) =>
  [schema['additionalProperties'], schema['unevaluatedProperties']].map((rule) => canonical(rule ?? true));

function contentOf(schema: JsonObject): string {
  const rules = contentRules(schema);
  if (rules.includes('false')) return CLOSED;
  return rules.every((rule) => rule === 'true' || rule === '{}') ? OPEN : rules.join();
}

function judgeContent(place: string, then: JsonObject, now: JsonObject, found: Found): void {
  const [was, is] = [contentOf(then), contentOf(now)];
  if (was === OPEN && is === OPEN) return;
  if (contentRules(then).join() === contentRules(now).join()) return;
  if (was === OPEN && is === CLOSED)
    found(place, 'content-closed', 'Members that are not named are refused now; older records may hold some.');
  else if (was === CLOSED && is === OPEN)
    found(place, 'content-opened', 'Older readers refuse members that are allowed now.');
  else found(place, 'not-comparable', 'The rules of members that are not named changed.');
}

const membersOf = ({ properties }: JsonObject): JsonObject => (isObject(properties) ? properties : {});
const requiredOf = ({ required }: JsonObject) => new Set(Array.isArray(required) ? required.map(textOf) : []);

/** A name as it is; else JSON, since an object of a stranger's need not have a text (`{"toString": 1}`). */
const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
