import fc from 'fast-check';
import { diffOf, type PatchOperation, unstorableAt, valueAt } from '../../../src/platform/json';

/** RFC 6902, section 4, for the three operations that a diff uses. */
function apply(document: unknown, patch: readonly PatchOperation[]): unknown {
  let result = structuredClone(document);
  for (const operation of patch) {
    const tokens = operation.path
      .split('/')
      .slice(1)
      .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
    const last = tokens.pop();
    if (last === undefined) {
      result = operation.op === 'remove' ? undefined : operation.value;
      continue;
    }
    const parent = tokens.reduce((value, name) => (value as Record<string, unknown>)[name], result);
    if (Array.isArray(parent)) {
      const value = operation.op === 'remove' ? [] : [operation.value];
      parent.splice(Number(last), operation.op === 'add' ? 0 : 1, ...value);
    } else if (operation.op === 'remove') delete (parent as Record<string, unknown>)[last];
    else
      Object.defineProperty(parent, last, {
        value: operation.value,
        enumerable: true,
        configurable: true,
        writable: true,
      });
  }
  return result;
}

/** Without -0, which JSON can read and not write. */
const json = fc.json({ maxDepth: 4 }).map((text) => JSON.parse(JSON.stringify(JSON.parse(text))) as unknown);

describe('the difference of two documents', () => {
  it('makes the one of the other, whatever they are', () => {
    fc.assert(
      fc.property(json, json, (before, after) => {
        expect(apply(before, diffOf(before, after))).toEqual(after);
      }),
      { numRuns: 500 },
    );
  });

  it('is empty for equal documents, and only for them', () => {
    fc.assert(
      fc.property(json, (value) => expect(diffOf(value, structuredClone(value))).toEqual([])),
      { numRuns: 200 },
    );
    expect(diffOf({ a: null }, {})).toEqual([{ op: 'remove', path: '/a' }]);
  });

  it('names what a person changed, and nothing else', () => {
    const before = {
      orderNumber: '1',
      lines: [
        { n: 1, quantity: '1,5' },
        { n: 2, quantity: '2' },
      ],
      'a/b~c': 1,
    };
    const after = { orderNumber: '1', lines: [{ n: 1, quantity: '1.5' }], 'a/b~c': 2, reason: 'typo' };
    expect(diffOf(before, after)).toEqual([
      { op: 'replace', path: '/lines/0/quantity', value: '1.5' },
      { op: 'remove', path: '/lines/1' },
      { op: 'replace', path: '/a~1b~0c', value: 2 },
      { op: 'add', path: '/reason', value: 'typo' },
    ]);
  });

  it('is the whole document where there was none', () => {
    expect(diffOf(null, { a: 1 })).toEqual([{ op: 'replace', path: '', value: { a: 1 } }]);
  });
});

describe('a pointer into a document', () => {
  it.each([
    ['', { a: [{ 'b/c': 1 }] }],
    ['/a/0/b~1c', 1],
    ['/a/1', undefined],
    ['/toString', undefined],
    ['/a/0/b~1c/d', undefined],
  ])('%s leads to what is there', (pointer, value) => {
    expect(valueAt({ a: [{ 'b/c': 1 }] }, pointer)).toEqual(value);
  });

  it.each([
    [{ a: ['x', { b: 'y\0' }] }, '/a/1/b'],
    [{ a: '\ud83d' }, '/a'],
    [{ 'a\0': 1 }, ''],
    [{ a: '😀', b: null, c: 1 }, undefined],
  ])('names the text that no database can store', (document, pointer) => {
    expect(unstorableAt(document)).toBe(pointer);
  });
});
