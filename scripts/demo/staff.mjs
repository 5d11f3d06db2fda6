import { dim, say } from './terminal.mjs';

/** Somebody in support, with a key of their own and the command line. */
export class Staff {
  /** @param key as `parley key create --json` says it */
  constructor(system, { id, token }) {
    this.system = system;
    this.id = id;
    this.env = { PARLEY_URL: system.apiUrl, PARLEY_API_KEY: token, NO_COLOR: '1' };
  }

  /** Runs `parley …`, shows the command and what it answers as it is, up to the line `before`. Throws when it fails. */
  async run(args, { input, before } = {}) {
    say(`    $ parley ${args.map(quoted).join(' ')}${input === undefined ? '' : ' < mended.json'}`);
    const { text } = await this.system.runParley(args, { env: this.env, input });
    const lines = text.split('\n').map((line) => line.replaceAll('\t', '  ').trimEnd());
    const end = before === undefined ? -1 : lines.indexOf(before);
    for (const line of end < 0 ? lines : lines.slice(0, end - 1)) say(dim(line && `      ${line}`));
    if (end >= 0) say(dim(`      … and ${lines.length - end} more lines: headers, attempts, the order's timeline`));
  }
}

const quoted = (word) => (/^[\w./:@=-]+$/.test(word) ? word : `"${word}"`);
