/** One change of an `.avsc`: what Parley's judge says of it, and what the registry says under FULL_TRANSITIVE. */
export interface AvroChange {
  what: string;
  older: unknown;
  newer: unknown;
  /** `place rule`; none: both get along. */
  breaks: readonly string[];
  registry: boolean;
  /** Where the two differ: why. */
  why?: string;
}

const record = (...fields: unknown[]) => ({ type: 'record', name: 'Order', namespace: 'p.v1', fields });
const field = (name: string, type: unknown, rest: object = {}) => ({ name, type, ...rest });
const optional = (name: string, type: unknown) => field(name, ['null', type], { default: null });
const enumOf = (symbols: string[], rest: object = {}) => ({ type: 'enum', name: 'E', symbols, ...rest });
const ID = field('id', 'string');
const lines = (name: string, ...fields: unknown[]) =>
  field('lines', { type: 'array', items: { type: 'record', name, fields } });
const fixed = (size: number) => ({ type: 'fixed', name: 'F', size });
const decimal = (scale: number) => ({ type: 'bytes', logicalType: 'decimal', precision: 9, scale });

export const AVRO_CHANGES: readonly AvroChange[] = [
  {
    what: 'words for people',
    older: record(ID),
    newer: { ...record({ ...ID, doc: 'said' }), doc: 'said' },
    breaks: [],
    registry: true,
  },
  {
    what: 'the order of fields',
    older: record(ID, field('n', 'int')),
    newer: record(field('n', 'int'), ID),
    breaks: [],
    registry: true,
  },
  {
    what: 'an optional field more',
    older: record(ID),
    newer: record(ID, optional('two', 'string')),
    breaks: [],
    registry: true,
  },
  {
    what: 'an optional field less',
    older: record(ID, optional('two', 'string')),
    newer: record(ID),
    breaks: [],
    registry: true,
  },
  {
    what: 'a field with a default more',
    older: record(ID),
    newer: record(ID, field('n', 'int', { default: 0 })),
    breaks: [],
    registry: true,
  },
  {
    what: 'an optional field more in a list',
    older: record(lines('L', ID)),
    newer: record(lines('L', ID, optional('two', 'int'))),
    breaks: [],
    registry: true,
  },
  {
    what: 'a field without a default more',
    older: record(ID),
    newer: record(ID, field('n', 'int')),
    breaks: ['n field-added-required'],
    registry: false,
  },
  {
    what: 'a field without a default less',
    older: record(ID, field('n', 'int')),
    newer: record(ID),
    breaks: ['n field-removed-required'],
    registry: false,
  },
  {
    what: 'another name without an alias',
    older: record(ID),
    newer: record(field('key', 'string')),
    breaks: ['key field-added-required', 'id field-removed-required'],
    registry: false,
  },
  {
    what: 'another name with an alias',
    older: record(ID),
    newer: record(field('key', 'string', { aliases: ['id'] })),
    breaks: ['id field-renamed'],
    registry: false,
  },
  {
    what: 'another name with an alias and defaults',
    older: record(ID, optional('two', 'string')),
    newer: record(ID, { ...optional('deux', 'string'), aliases: ['two'] }),
    breaks: [],
    registry: true,
  },
  {
    what: 'int → long',
    older: record(field('n', 'int')),
    newer: record(field('n', 'long')),
    breaks: ['n type-changed'],
    registry: false,
  },
  {
    what: 'long → int',
    older: record(field('n', 'long')),
    newer: record(field('n', 'int')),
    breaks: ['n type-changed'],
    registry: false,
  },
  {
    what: 'int → string',
    older: record(field('n', 'int')),
    newer: record(field('n', 'string')),
    breaks: ['n type-changed'],
    registry: false,
  },
  {
    what: 'string → bytes',
    older: record(ID),
    newer: record(field('id', 'bytes')),
    breaks: ['id type-changed'],
    registry: true,
    why: 'Avro reads one as the other; bytes need not be text, and no member of a document is bytes',
  },
  {
    what: 'a list → a map',
    older: record(field('n', { type: 'array', items: 'int' })),
    newer: record(field('n', { type: 'map', values: 'int' })),
    breaks: ['n type-changed'],
    registry: false,
  },
  {
    what: 'items of another type',
    older: record(field('n', { type: 'array', items: 'int' })),
    newer: record(field('n', { type: 'array', items: 'string' })),
    breaks: ['n[] type-changed'],
    registry: false,
  },
  {
    what: 'a field that may be missing now',
    older: record(ID),
    newer: record(field('id', ['null', 'string'])),
    breaks: ['id optional-changed'],
    registry: false,
  },
  {
    what: 'a field that may not be missing any more',
    older: record(field('id', ['null', 'string'])),
    newer: record(ID),
    breaks: ['id optional-changed'],
    registry: false,
  },
  {
    what: 'a branch of a union more',
    older: record(field('n', ['null', 'string'])),
    newer: record(field('n', ['null', 'string', 'int'])),
    breaks: ['n union-changed'],
    registry: false,
  },
  {
    what: 'a branch of a union less',
    older: record(field('n', ['null', 'string', 'int'])),
    newer: record(field('n', ['null', 'string'])),
    breaks: ['n union-changed'],
    registry: false,
  },
  {
    what: 'another type of what may be missing',
    older: record(optional('two', 'string')),
    newer: record(optional('two', 'int')),
    breaks: ['two type-changed'],
    registry: false,
  },
  {
    what: 'what may be missing becomes something else that may not',
    older: record(field('n', ['null', 'string'])),
    newer: record(field('n', ['int', 'string'])),
    breaks: ['n type-changed'],
    registry: false,
  },
  {
    what: 'the order of a union',
    older: record(field('n', ['null', 'string'])),
    newer: record(field('n', ['string', 'null'])),
    breaks: [],
    registry: true,
  },
  {
    what: 'a branch less that another one takes over',
    older: record(field('n', ['null', 'int', 'long'])),
    newer: record(field('n', ['null', 'long'])),
    breaks: ['n union-changed'],
    registry: true,
    why: 'branches are compared by their names: simple, and no contract has two numbers for one member',
  },
  {
    what: 'a symbol of an enum more',
    older: record(field('e', enumOf(['A']))),
    newer: record(field('e', enumOf(['A', 'B']))),
    breaks: ['e enum-value-added'],
    registry: false,
  },
  {
    what: 'a symbol of an enum less',
    older: record(field('e', enumOf(['A', 'B']))),
    newer: record(field('e', enumOf(['A']))),
    breaks: ['e enum-value-removed'],
    registry: false,
  },
  {
    what: 'a symbol of an enum with a default more',
    older: record(field('e', enumOf(['A'], { default: 'A' }))),
    newer: record(field('e', enumOf(['A', 'B'], { default: 'A' }))),
    breaks: [],
    registry: true,
  },
  {
    what: 'another size',
    older: record(field('f', fixed(4))),
    newer: record(field('f', fixed(5))),
    breaks: ['f size-changed'],
    registry: false,
  },
  {
    what: 'another name of a record inside',
    older: record(lines('L', ID)),
    newer: record(lines('M', ID)),
    breaks: ['lines[] name-changed'],
    registry: false,
  },
  {
    what: 'another scale of a decimal',
    older: record(field('d', decimal(2))),
    newer: record(field('d', decimal(3))),
    breaks: ['d logical-type-changed'],
    registry: true,
    why: 'the same bytes are another number; the registry looks at bytes',
  },
  {
    what: 'another default',
    older: record(ID, field('n', 'int', { default: 0 })),
    newer: record(ID, field('n', 'int', { default: 1 })),
    breaks: ['n default-changed'],
    registry: true,
    why: 'what an old record lacks reads otherwise than before',
  },
  {
    what: 'a record that holds itself, a field more',
    older: record(ID, optional('next', 'p.v1.Order')),
    newer: record(ID, optional('next', 'p.v1.Order'), field('n', 'int')),
    breaks: ['n field-added-required'],
    registry: false,
  },
];
