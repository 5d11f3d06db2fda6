const isTerminal = process.stdout.isTTY === true;
const coloured = isTerminal && !process.env.NO_COLOR && process.env.TERM !== 'dumb';
const paint = (code) => (text) => (coloured ? `\u001b[${code}m${text}\u001b[0m` : String(text));

export const bold = paint(1);
export const dim = paint(2);
export const red = paint(31);
export const green = paint(32);
export const yellow = paint(33);

const started = Date.now();
export const elapsed = () => `${((Date.now() - started) / 1000).toFixed(1)} s`;

/** The line that is being rewritten on a terminal, if any. */
let live = false;

export function say(text = '') {
  if (live) process.stdout.write('\r\u001b[2K');
  live = false;
  process.stdout.write(`${text}\n`);
}

export const title = (text) => say(`\n${bold(text)}`);
export const done = (text) => say(`  ${green('✓')} ${text}`);
export const event = (text, at = elapsed()) => say(`  ${yellow('!')} ${dim(at)} ${text}`);

/** Progress: one line that is rewritten on a terminal, elsewhere a line every two seconds, if it says something new. */
export function progress() {
  let last = 0;
  let said;
  return (text) => {
    if (isTerminal) {
      process.stdout.write(`\r\u001b[2K  ${text}`);
      live = true;
    } else if (text !== said && Date.now() - last > 2000) {
      last = Date.now();
      said = text;
      say(`  ${text}`);
    }
  };
}

/** Columns padded to their widest cell; numbers to the right. */
export function table(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => String(row[column]).length)));
  const cell = (value, column) =>
    typeof value === 'number' ? String(value).padStart(widths[column]) : String(value).padEnd(widths[column]);
  for (const row of rows) say(`    ${row.map(cell).join('  ').trimEnd()}`);
}
