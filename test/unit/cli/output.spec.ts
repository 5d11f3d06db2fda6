import { oneLine } from '../../../src/cli/output';

it('what a stranger named keeps to its line and gives a terminal no orders', () => {
  expect(oneLine('a\x1b[2J\r\nno break: 6\u2028b\u202ec\ud800')).toBe(
    String.raw`a\u{1b}[2J\u{d}\u{a}no break: 6\u{2028}b\u{202e}c\u{d800}`,
  );
  expect(oneLine('acme\tactive\tÄ 日本 🙂')).toBe('acme\tactive\tÄ 日本 🙂');
});
