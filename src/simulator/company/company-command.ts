import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { brokerWords } from '../broker-error';
import type { Terminal } from '../terminal';
import { CompanyDesk, type Prepared } from './company-desk';
import { type Exchange, openOf } from './ledger';
import { COMPANY_HELP, type CompanyOptions, parseCompany } from './options';
import { rulesOf } from './plays';
import { stepLine, stepOf, summaryOf } from './steps';

/** Writes the requests of a play and tells what comes back, until all is answered. */
export async function companyCommand(args: readonly string[], terminal: Terminal): Promise<number> {
  const options = parseCompany(args, terminal.env);
  if (!options) {
    terminal.out(COMPANY_HELP);
    return 0;
  }
  const stopped = new AbortController();
  terminal.onStop(() => stopped.abort());
  const tell = (step: ReturnType<typeof stepOf>) =>
    step && terminal.out(`${options.json ? JSON.stringify(step) : stepLine(step)}\n`);
  const { partner, format, access } = options;
  const desk = new CompanyDesk(
    { ...access, party: { id: partner, format }, isAlone: true, hearsAll: true },
    {
      onWritten: (exchange, what) => tell(stepOf({ kind: what, exchange })),
      onHeard: (finding, heard) => tell(stepOf({ kind: 'heard', finding, heard })),
      log: terminal.say,
    },
  );
  try {
    try {
      await desk.start();
    } catch (error) {
      terminal.say(`nothing was written: ${brokerWords(error)}`);
      return 1;
    }
    const exchanges = await ask(desk, options, stopped.signal).catch((error: unknown) => {
      terminal.say(`not all could be written: ${brokerWords(error)}`);
      return undefined;
    });
    if (!exchanges) return 1;
    await desk.until(() => (stopped.signal.aborted || isAnswered(exchanges) ? true : undefined), options.withinMs);
    if (options.stays) await once(stopped.signal);
    const summary = summaryOf(exchanges, desk.ledger.faults.length);
    terminal.out(`${options.json ? JSON.stringify({ kind: 'summary', ...summary }) : summary.text}\n`);
    return summary.exitCode;
  } finally {
    await desk.close();
  }
}

/** Writes the requests at their rate. */
async function ask(desk: CompanyDesk, options: CompanyOptions, signal: AbortSignal): Promise<Exchange[]> {
  const rules = rulesOf(options.play);
  const run = randomBytes(4).toString('hex').toUpperCase();
  const isAtOnce = options.rate === 0 || options.play === 'burst';
  const asked = new Set<Exchange>();
  const burst: Prepared[] = [];
  const began = performance.now();
  for (let index = 0; index < options.orders && !signal.aborted; index++) {
    const order = await desk.order(`SIM-${run}-${index + 1}`, [options.article ?? rules.article]);
    const requests = await rules.requests(desk, order);
    requests.forEach(({ exchange }) => asked.add(exchange));
    if (isAtOnce) {
      burst.push(...requests);
      continue;
    }
    // By the clock, so that a slow write is made up for.
    await delay(Math.max(0, began + (index * 1000) / options.rate - performance.now()), undefined, { signal }).catch(
      () => undefined,
    );
    await desk.write(...requests);
  }
  if (burst.length > 0) await desk.write(...burst);
  return [...asked];
}

const isAnswered = (exchanges: readonly Exchange[]): boolean => openOf(exchanges).length === 0;

const once = (signal: AbortSignal): Promise<void> =>
  signal.aborted ? Promise.resolve() : new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
