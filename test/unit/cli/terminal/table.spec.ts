import { cut, facts, table, widthOf } from '../../../../src/cli/terminal/table';

const COLUMNS = [
  { title: 'ID', of: ({ id }: { id: string; why: string | null }) => id },
  { title: 'WHY', of: ({ why }: { id: string; why: string | null }) => why, most: 12 },
  { title: 'END', of: () => 'x' },
];

describe('a table', () => {
  it('aligns its columns, and says - where there is nothing', () => {
    const rows = [
      { id: '7', why: 'too early' },
      { id: '4711', why: null },
    ];
    expect(table(COLUMNS, rows, 80)).toEqual(['ID    WHY        END', '7     too early  x', '4711  -          x']);
  });

  it('counts two columns for signs of East Asia and none for marks on a letter', () => {
    expect(['日本', '🙂', 'é', 'Zürich'].map(widthOf)).toEqual([4, 2, 1, 6]);
    expect(
      table(
        COLUMNS,
        [
          { id: '1', why: '日本' },
          { id: '2', why: 'abcd' },
        ],
        80,
      ).slice(1),
    ).toEqual(['1   日本  x', '2   abcd  x']);
  });

  it('cuts long cells and lines with … on a terminal, and nothing where a program reads it', () => {
    const rows = [{ id: '1', why: 'a partner that says much' }];
    expect(table(COLUMNS, rows, 80)[1]).toBe('1   a partner t…  x');
    expect(table(COLUMNS, rows, 10)[1]).toBe('1   a par…');
    expect(table(COLUMNS, rows, undefined)[1]).toBe('1   a partner that says much  x');
  });

  it('lets no text of a partner draw on the terminal or begin a line', () => {
    const [, line = ''] = table(COLUMNS, [{ id: '\x1b[2J\n1', why: 'a\tb' }], 80);
    expect(line).toBe(String.raw`\u{1b}[2J\u{a}1  a b  x`);
  });

  it('is nothing without rows', () => {
    expect(table(COLUMNS, [], 80)).toEqual([]);
  });

  it.each([
    ['abc', 3, 'abc'],
    ['abcd', 3, 'ab…'],
    ['日本語', 4, '日…'],
    ['', 0, ''],
  ])('cut(%j, %s) is %j', (text, width, expected) => {
    expect(cut(text, width)).toBe(expected);
  });
});

it('facts are aligned, without those that have no value', () => {
  const rows = [
    ['order', '4711'],
    ['overdue since', null],
    ['state', undefined],
    ['none', 0],
  ] as const;
  expect(facts(rows)).toEqual(['order  4711', 'none   0']);
});
