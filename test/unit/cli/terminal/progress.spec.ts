import { bar, Progress } from '../../../../src/cli/terminal/progress';

class Stream {
  written: string[] = [];
  constructor(
    readonly isTTY: boolean,
    readonly columns = 40,
  ) {}
  write(text: string): void {
    this.written.push(text);
  }
}

it.each([
  [0, 4, '[----]'],
  [3, 8, '[#---]'],
  [8, 8, '[####]'],
  [9, 8, '[####]'],
  [0, 0, '[####]'],
])('%s of %s is %s', (done, total, expected) => {
  expect(bar(done, total, 4)).toBe(expected);
});

describe('progress', () => {
  it('is one line of a terminal that is drawn anew, no wider than it, and wiped away', () => {
    const stream = new Stream(true);
    const progress = new Progress(stream);
    progress.show(1, 4, '1 processed');
    progress.show(1, 4, '1 processed');
    progress.show(2, 4, '2 processed and more than fits');
    progress.clear();
    progress.clear();
    expect(stream.written).toEqual([
      '\r\x1b[K[######------------------] 1/4 1 proce…',
      '\r\x1b[K[############------------] 2/4 2 proce…',
      '\r\x1b[K',
    ]);
  });

  it('is a line now and then where nobody sees a bar', () => {
    const stream = new Stream(false);
    let now = 0;
    const progress = new Progress(stream, () => now);
    for (const [n, at] of [0, 1_000, 10_000, 11_000].entries()) {
      now = at;
      progress.show(n, 4, '');
    }
    progress.clear();
    expect(stream.written).toEqual(['0/4 \n', '2/4 \n']);
  });
});
