import { documentLines } from '../../../../src/cli/dead-letters/document';

const DOCUMENT = { orderNumber: '1', lines: [{ 'a/b': '1,5' }, {}], none: null };

describe('a document', () => {
  it('is JSON that can be read again', () => {
    expect(JSON.parse(documentLines(DOCUMENT, null).join('\n'))).toEqual(DOCUMENT);
  });

  it.each([
    ['/lines/0/a~1b', '>       "a/b": "1,5"'],
    ['/lines/1', '>     {}'],
    ['/none', '>   "none": null'],
    ['', '> {'],
    // Where there is nothing: what it would stand in.
    ['/lines/1/quantity', '>     {}'],
    ['/currency', '> {'],
  ])('has the line of %j marked, and no other', (pointer, line) => {
    expect(documentLines(DOCUMENT, pointer).filter((text) => text.startsWith('>'))).toEqual([line]);
  });
});
