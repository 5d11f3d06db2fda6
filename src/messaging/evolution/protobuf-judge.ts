import { type Break, type Rule } from './break';
import { type ProtobufEnum, type ProtobufField, type ProtobufMessage, readProtobuf } from './protobuf-schema';

type Found = (place: string, rule: Rule, detail: string) => void;

/**
 * What breaks between two versions of a `.proto`, in either direction: on the wire, and in a document whose members carry the
 * fields' names. No two scalar types hold the same values in both directions (int64 → int32 loses, string ↔ bytes need not be
 * text), so every change of type is a break, also where the wire would let it pass.
 */
export function judgeProtobuf(older: string, newer: string): Break[] {
  const [then, now] = [readProtobuf(older), readProtobuf(newer)];
  const breaks: Break[] = [];
  const found: Found = (place, rule, detail) => void breaks.push({ place, rule, detail });
  if ((then.exotic || now.exotic) && older !== newer)
    found('', 'not-comparable', 'Extensions and groups are not compared; leave such a schema as it is.');
  if (then.syntax !== now.syntax)
    found(
      '',
      'syntax-changed',
      `The syntax was ${then.syntax} and is ${now.syntax}: presence and packing change with it.`,
    );
  if (then.package !== now.package)
    found(
      '',
      'package-changed',
      `The package was ${then.package} and is ${now.package}: every message has another name.`,
    );
  judgeMessages(then.messages, now.messages, found);
  judgeEnums(then.enums, now.enums, { open: now.syntax !== 'proto2' }, found);
  return breaks;
}

const byName = <T extends { name: string }>(items: readonly T[]) => new Map(items.map((item) => [item.name, item]));

function judgeMessages(then: readonly ProtobufMessage[], now: readonly ProtobufMessage[], found: Found): void {
  const [olds, news] = [byName(then), byName(now)];
  for (const old of then) {
    const same = news.get(old.name);
    if (same) {
      if (same.index !== old.index)
        found(
          old.name,
          'message-moved',
          `${old.name} was message ${old.index} of the file and is ${same.index}: records name messages by their place. Add new ones at the end.`,
        );
      judgeFields(old, same, found);
      continue;
    }
    const parent = old.name.slice(0, Math.max(0, old.name.lastIndexOf('.')));
    if (parent !== '' && !news.has(parent)) continue;
    const inPlace = now.find(({ index, name }) => index === old.index && !olds.has(name));
    if (inPlace) found(old.name, 'message-renamed', `${old.name} is now ${inPlace.name}.`);
    else found(old.name, 'message-removed', `${old.name} is gone.`);
  }
}

function judgeFields(old: ProtobufMessage, now: ProtobufMessage, found: Found): void {
  const numbers = new Map(now.fields.map((field) => [field.number, field]));
  const names = byName(now.fields);
  for (const field of old.fields) {
    const place = `${old.name}.${field.name}`;
    const heir = numbers.get(field.number);
    const namesake = names.get(field.name);
    if (heir && heir.name === field.name) judgeField(place, field, heir, found);
    else if (namesake)
      found(place, 'field-number-changed', `Its number was ${field.number} and is ${namesake.number}.`);
    else if (heir) judgeHeir(place, field, heir, found);
    else judgeRemoval(place, field, now, found);
  }
  for (const field of now.fields) judgeAddition(old, field, found);
  for (const [from, to] of old.reservedNumbers)
    if (!covered([from, to], now.reservedNumbers))
      found(old.name, 'reservation-removed', `Numbers ${from} to ${to} were reserved and no longer are.`);
  for (const name of old.reservedNames)
    if (!now.reservedNames.has(name))
      found(old.name, 'reservation-removed', `The name "${name}" is no longer reserved.`);
}

/** Another field under this number: the same one with a new name, or something else. */
function judgeHeir(place: string, field: ProtobufField, heir: ProtobufField, found: Found): void {
  if (heir.type === field.type && heir.cardinality === field.cardinality)
    found(place, 'field-renamed', `Number ${field.number} is now called ${heir.name}; documents name members.`);
  else
    found(
      place,
      'number-reused',
      `Number ${field.number} (${field.cardinality} ${field.type}) is now ${heir.name} (${heir.cardinality} ${heir.type}).`,
    );
}

function judgeRemoval(place: string, field: ProtobufField, now: ProtobufMessage, found: Found): void {
  const number = covered([field.number, field.number], now.reservedNumbers);
  if (!number || !now.reservedNames.has(field.name))
    found(
      place,
      'field-removed-unreserved',
      `It is gone; write "reserved ${field.number};" and "reserved "${field.name}";" so that neither is used again.`,
    );
  if (field.cardinality === 'implicit' || field.cardinality === 'required')
    found(
      place,
      'field-removed-required',
      'Older readers always read a value here, and would now read one that nobody wrote.',
    );
}

function judgeAddition(old: ProtobufMessage, field: ProtobufField, found: Found): void {
  if (old.fields.some(({ name, number }) => name === field.name || number === field.number)) return;
  const place = `${old.name}.${field.name}`;
  if (covered([field.number, field.number], old.reservedNumbers) || old.reservedNames.has(field.name))
    found(
      place,
      'number-reused',
      `Its number ${field.number} or its name was reserved: older records may hold something else there.`,
    );
  if (field.cardinality === 'implicit' || field.cardinality === 'required')
    found(
      place,
      'field-added-required',
      'Older records lack it and would read as a value that nobody wrote; write "optional".',
    );
}

function judgeField(place: string, then: ProtobufField, now: ProtobufField, found: Found): void {
  const many = ({ cardinality }: ProtobufField) => cardinality === 'repeated' || cardinality === 'map';
  if (many(then) !== many(now))
    found(place, 'repeated-changed', `It was ${then.cardinality} and is ${now.cardinality}.`);
  else if (then.type !== now.type || (then.cardinality === 'map') !== (now.cardinality === 'map'))
    found(place, 'type-changed', `Its type was ${then.type} and is ${now.type}.`);
  else if (then.oneof !== now.oneof)
    found(
      place,
      'oneof-changed',
      `It was ${whereIs(then)} and is ${whereIs(now)}: members of a oneof erase each other.`,
    );
  else if (then.cardinality !== now.cardinality)
    found(
      place,
      'optional-changed',
      `It was ${then.cardinality} and is ${now.cardinality}: what is missing reads otherwise.`,
    );
  if (then.packed !== now.packed)
    found(place, 'packed-changed', 'Whether it is packed is not left as it was; readers need not take both.');
  if (then.jsonName !== now.jsonName)
    found(
      place,
      'json-name-changed',
      `Its json_name was ${then.jsonName ?? 'not set'} and is ${now.jsonName ?? 'not set'}.`,
    );
  if (then.default !== now.default)
    found(place, 'default-changed', `Its default was ${then.default ?? 'not set'} and is ${now.default ?? 'not set'}.`);
}

const whereIs = ({ oneof }: ProtobufField) => (oneof === undefined ? 'in no oneof' : `in oneof ${oneof}`);

function judgeEnums(
  then: readonly ProtobufEnum[],
  now: readonly ProtobufEnum[],
  { open }: { open: boolean },
  found: Found,
): void {
  const news = byName(now);
  for (const old of then) {
    const same = news.get(old.name);
    if (!same) {
      found(old.name, 'enum-removed', `The enum ${old.name} is gone.`);
      continue;
    }
    for (const [value, number] of old.values) {
      const place = `${old.name}.${value}`;
      const there = same.values.get(value);
      if (there === undefined)
        found(place, 'enum-value-removed', 'Older records hold it; mark it deprecated and keep it.');
      else if (there !== number) found(place, 'enum-value-renumbered', `It was ${number} and is ${there}.`);
    }
    // proto3 readers keep a number that they don't know; proto2 readers lose it.
    for (const value of open ? [] : same.values.keys())
      if (!old.values.has(value))
        found(`${old.name}.${value}`, 'enum-value-added', 'Older readers of a closed enum lose it.');
  }
}

/** Is the range inside these, which may touch each other? */
function covered([from, to]: readonly [number, number], ranges: readonly (readonly [number, number])[]): boolean {
  let next = from;
  for (const [start, end] of ranges.toSorted((a, b) => a[0] - b[0])) if (start <= next && end >= next) next = end + 1;
  return next > to;
}
