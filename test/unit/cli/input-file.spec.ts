import { jsonOf } from '../../../src/cli/input-file';

const refusalOf = (text: string): string => {
  try {
    return `it is ${JSON.stringify(jsonOf(text, 'mended.json'))}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

describe('a document that somebody gives', () => {
  it('is what its text holds', () => {
    expect(jsonOf(' {"a": ["1.5"]}\n', 'mended.json')).toEqual({ a: ['1.5'] });
  });

  it.each([
    ['a word without quotes', '{\n  "a": 1,\n  "b": yes\n}', "3, column 8: Unexpected token 'y'"],
    ['a name without quotes', '{\n  "a": 1,\n  b: 2\n}', '3, column 3: Expected double-quoted property name'],
    ['single quotes', '{\n  "a": \'x\'\n}', "2, column 8: Unexpected token '''"],
    ['a value that is missing', '{"a": , "b": 1}', "1, column 7: Unexpected token ','"],
    ['a comma behind the last of a list', '{"a": [1,\n2,]}', "2, column 3: Unexpected token ']'"],
    ['a comma that is missing', '{\n  "a": 1\n  "b": 2\n}', "3, column 3: Expected ',' or '}' after property value"],
    ['something behind its end', '{}\n{}', '2, column 1: Unexpected non-whitespace character after JSON'],
    ['an end that is missing', '{\n  "a": [', '2, column 9: Unexpected end of JSON input'],
    ['nothing', '', '1, column 1: Unexpected end of JSON input'],
  ])('is refused with its name and the place of the fault: %s', (_, text, place) => {
    expect(refusalOf(text)).toBe(`Nothing is changed: mended.json is no JSON at line ${place}.`);
  });

  it('has its fault found in a long one, and nothing of it repeated', () => {
    const lines = Array.from({ length: 20_000 }, (_, n) => `  "member-${n}": "secret"`);
    lines[12_345] = '  "member-12345": secret';
    const refusal = refusalOf(`{\n${lines.join(',\n')}\n}`);
    expect(refusal).toContain("mended.json is no JSON at line 12347, column 19: Unexpected token 's'.");
    expect(refusal).not.toContain('ecret');
  });
});
