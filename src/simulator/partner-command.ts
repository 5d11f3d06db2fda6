import { HELP, parseOptions } from './options';
import { Partner, type Statistics } from './partner';
import type { Terminal } from './terminal';

/** Plays partners until it is asked to stop. */
export async function partnerCommand(args: readonly string[], terminal: Terminal): Promise<number> {
  const options = parseOptions(args, terminal.env);
  if (!options) {
    terminal.out(HELP);
    return 0;
  }
  const [first] = options;
  const parties = options.flatMap((one) => one.parties).map(({ id, format }) => `${id} (${format})`);
  const groups = options.map(({ group }) => group).join(', ');
  let unready = options.length;
  const partners = options.map((one) => {
    let isFirst = true;
    return new Partner(one, terminal.say, () => {
      if (isFirst) unready--;
      isFirst = false;
      // With each membership, as ever: who waits for the line waits for its first.
      if (unready === 0) terminal.out(`ready: plays ${parties.join(', ')} in group ${groups}\n`);
    });
  });
  terminal.onStop(() => partners.forEach((partner) => void partner.stop()));
  await Promise.all(partners.map((partner) => partner.run()));
  if (first) terminal.out(`${JSON.stringify(summed(partners.map(({ statistics }) => statistics)))}\n`);
  return 0;
}

function summed(all: readonly Statistics[]): Partial<Record<keyof Statistics, number>> {
  const sum: Partial<Record<keyof Statistics, number>> = {};
  for (const statistics of all) {
    for (const [name, count] of Object.entries(statistics) as [keyof Statistics, number][]) {
      sum[name] = (sum[name] ?? 0) + count;
    }
  }
  return sum;
}
