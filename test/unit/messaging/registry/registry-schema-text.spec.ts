import { checkSchemaText, MAX_SCHEMA_BYTES, SchemaRefused } from '../../../../src/messaging/registry/schema-text';

const check = (text: string, format: 'avro' | 'protobuf' | 'json-schema' = 'avro') => {
  try {
    checkSchemaText({ format, text }, 'Version 1 of orders');
  } catch (error) {
    expect(error).toBeInstanceOf(SchemaRefused);
    return (error as SchemaRefused).message;
  }
  return 'taken';
};

describe('the text of a schema', () => {
  it('is taken up to its largest size, counted in bytes', () => {
    expect(check(`"${'x'.repeat(MAX_SCHEMA_BYTES - 2)}"`)).toBe('taken');
    expect(check(`"${'x'.repeat(MAX_SCHEMA_BYTES - 1)}"`)).toContain('bytes');
    expect(check(`"${'ä'.repeat(MAX_SCHEMA_BYTES / 2)}"`)).toContain('bytes');
  });

  it('is taken up to 64 levels', () => {
    for (const open of ['[', '{"a":']) {
      expect(check(open.repeat(64))).toBe('taken');
      expect(check(open.repeat(65))).toContain('nested deeper');
    }
    expect(check('[]'.repeat(1000))).toBe('taken');
  });

  it('a million levels deep is refused without recursion', () => {
    expect(check('['.repeat(1_000_000))).toContain('nested deeper');
  });

  it('may hold brackets in strings, escaped quotes among them', () => {
    expect(check(`{"doc":"${'['.repeat(100)}"}`)).toBe('taken');
    expect(check(`{"doc":"\\"${'['.repeat(100)}"}`)).toBe('taken');
    expect(check(`{"doc":"\\\\",${'['.repeat(100)}`)).toContain('nested deeper');
  });

  it('can not hide its levels by what is no comment or string in its language', () => {
    const deep = '['.repeat(100);
    expect(check(`// ${deep}`)).toContain('nested deeper');
    expect(check(`'${deep}'`)).toContain('nested deeper');
  });

  it('may hold brackets in the comments and strings of a .proto', () => {
    const many = '{'.repeat(100);
    expect(check(`// isn't ${many}\nmessage A {}\n/* ${many} ' */ message B { }`, 'protobuf')).toBe('taken');
    expect(check(`option a = '${many}';`, 'protobuf')).toBe('taken');
    expect(check(`// it's\n${many}`, 'protobuf')).toContain('nested deeper');
    expect(check(`/* it's */${many}`, 'protobuf')).toContain('nested deeper');
    expect(check(`/* without end ${many}`, 'protobuf')).toBe('taken');
    expect(check('map<'.repeat(65), 'protobuf')).toContain('nested deeper');
  });
});
