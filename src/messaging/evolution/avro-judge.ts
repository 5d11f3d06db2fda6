import type { Break, Rule } from './break';
import { type AvroField, type AvroType, readAvro } from './avro-schema';

type Found = (place: string, rule: Rule, detail: string) => void;
type Of<K extends AvroType['kind']> = Extract<AvroType, { kind: K }>;

/**
 * What breaks between two versions of an `.avsc`, in either direction, by Avro's rules of resolution (1.12) in our own words:
 * a promotion (int → long) works one way only, so types stay; what comes or goes has a default. Stricter than a registry in
 * what it does not look at: logical types, string ↔ bytes, a default that says something else about old records.
 */
export function judgeAvro(older: string, newer: string): Break[] {
  const breaks: Break[] = [];
  const judge = new Judge((place, rule, detail) => void breaks.push({ place, rule, detail }));
  judge.types('', readAvro(older), readAvro(newer));
  return breaks;
}

class Judge {
  /** Pairs of records that are being compared or were: a record may hold itself. */
  private readonly seen = new Set<string>();

  constructor(private readonly found: Found) {}

  types(place: string, then: AvroType, now: AvroType): void {
    if (then.kind === 'union' || now.kind === 'union') return this.unions(place, branches(then), branches(now));
    if (then.kind !== now.kind)
      return this.found(place, 'type-changed', `Its type was ${label(then)} and is ${label(now)}.`);
    if (then.kind === 'primitive') return this.primitives(place, then, now as Of<'primitive'>);
    if (then.kind === 'array' || then.kind === 'map')
      return this.types(`${place}${then.kind === 'array' ? '[]' : '{}'}`, then.of, (now as Of<'array' | 'map'>).of);
    this.names(place, then, now as Of<'record' | 'enum' | 'fixed'>);
    if (then.kind === 'record') return this.records(place, then, now as Of<'record'>);
    if (then.kind === 'enum') return this.enums(place, then, now as Of<'enum'>);
    const { size, logical } = now as Of<'fixed'>;
    if (then.size !== size) this.found(place, 'size-changed', `Its size was ${then.size} and is ${size}.`);
    this.logical(place, then.logical, logical);
  }

  private primitives(place: string, then: Of<'primitive'>, now: Of<'primitive'>): void {
    if (then.name !== now.name)
      this.found(
        place,
        'type-changed',
        `Its type was ${then.name} and is ${now.name}: one of the two sides can't read it.`,
      );
    else this.logical(place, then.logical, now.logical);
  }

  private logical(place: string, then: string, now: string): void {
    if (then !== now)
      this.found(place, 'logical-type-changed', `Its logical type was ${then || 'none'} and is ${now || 'none'}.`);
  }

  /** Resolution compares the names without their namespaces, or a reader's alias. */
  private names(place: string, then: { name: string }, now: { name: string; aliases: readonly string[] }): void {
    if (unqualified(then.name) === unqualified(now.name)) return;
    const alias = now.aliases.includes(then.name) ? ' Its alias helps newer readers only.' : '';
    this.found(place, 'name-changed', `${then.name} is now ${now.name}.${alias}`);
  }

  private records(place: string, then: Of<'record'>, now: Of<'record'>): void {
    const pair = `${then.name} ${now.name}`;
    if (this.seen.has(pair)) return;
    this.seen.add(pair);
    const at = (name: string) => (place === '' ? name : `${place}.${name}`);
    const olds = new Map(then.fields.map((field) => [field.name, field]));
    const renamed = new Set<string>();
    for (const field of now.fields) {
      const same = olds.get(field.name);
      const before = same ?? field.aliases.map((alias) => olds.get(alias)).find((found) => found !== undefined);
      if (!before) this.comes(at(field.name), field);
      else {
        if (!same) renamed.add(before.name);
        this.fields(at(before.name), before, field);
      }
    }
    const names = new Set(now.fields.map(({ name }) => name));
    for (const field of then.fields)
      if (!names.has(field.name) && !renamed.has(field.name)) this.goes(at(field.name), field);
  }

  private fields(place: string, then: AvroField, now: AvroField): void {
    if (then.name !== now.name && then.default === undefined)
      this.found(
        place,
        'field-renamed',
        `It is now ${now.name}: the alias helps newer readers only, and older ones have no default.`,
      );
    if (then.default !== undefined && now.default !== undefined && then.default !== now.default)
      this.found(
        place,
        'default-changed',
        `Its default was ${then.default} and is ${now.default}: old records read otherwise.`,
      );
    this.types(place, then.type, now.type);
  }

  private comes(place: string, field: AvroField): void {
    if (field.default === undefined)
      this.found(place, 'field-added-required', 'It has no default, and older records lack it.');
  }

  private goes(place: string, field: AvroField): void {
    if (field.default === undefined)
      this.found(
        place,
        'field-removed-required',
        'It is gone (a new name needs an alias), and older readers have no default for it.',
      );
  }

  private enums(place: string, then: Of<'enum'>, now: Of<'enum'>): void {
    for (const symbol of now.symbols)
      if (!then.symbols.includes(symbol) && then.default === undefined)
        this.found(place, 'enum-value-added', `Older readers don't know ${symbol} and have no default.`);
    for (const symbol of then.symbols)
      if (!now.symbols.includes(symbol) && now.default === undefined)
        this.found(place, 'enum-value-removed', `Older records hold ${symbol}, and there is no default for it.`);
  }

  private unions(place: string, then: readonly AvroType[], now: readonly AvroType[]): void {
    const [olds, news] = [labelled(then), labelled(now)];
    for (const [name, branch] of olds) {
      const same = news.get(name);
      if (same) this.types(place, branch, same);
    }
    const gone = then.filter((branch) => !news.has(label(branch)));
    const come = now.filter((branch) => !olds.has(label(branch)));
    const [was, is] = [gone[0], come[0]];
    // One for one: the same member with another type, rather than two branches.
    if (was && is && gone.length === 1 && come.length === 1) return this.types(place, was, is);
    for (const branch of gone) this.branch(place, label(branch), ['it may not be', 'older records may hold that']);
    for (const branch of come) this.branch(place, label(branch), ['it may be', "older readers can't read that"]);
  }

  private branch(place: string, name: string, [now, why]: readonly [string, string]): void {
    if (name === 'null') this.found(place, 'optional-changed', `Now ${now} missing (null); ${why}.`);
    else this.found(place, 'union-changed', `Now ${now} ${name}; ${why}.`);
  }
}

const labelled = (types: readonly AvroType[]) => new Map(types.map((type) => [label(type), type]));

/** A single type and a union of it alone are read the same way. */
const branches = (type: AvroType): readonly AvroType[] => (type.kind === 'union' ? type.branches : [type]);
const unqualified = (name: string) => name.slice(name.lastIndexOf('.') + 1);

/** What tells branches of a union apart. */
function label(type: AvroType): string {
  return 'name' in type ? (type.kind === 'primitive' ? type.name : unqualified(type.name)) : type.kind;
}
