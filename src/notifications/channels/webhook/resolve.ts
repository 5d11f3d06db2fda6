import { lookup, Resolver } from 'node:dns/promises';

/** Addresses of a name. Rejects with an error whose `code` says why (`ENOTFOUND`, `ETIMEOUT`, …). */
export type Resolve = (name: string, signal: AbortSignal) => Promise<readonly string[]>;

/** Of one question; it is asked twice. */
const TIMEOUT_MS = 3000;
/** More than these are tried of no name. */
const MOST_ADDRESSES = 8;

/**
 * Asks name servers from our own sockets. `lookup` would hold one of the four threads that files and the other look-ups of this process
 * share for as long as a stranger's name server likes to be silent, and can't be given up. Names without a dot are this machine's
 * and its network's (hosts file, search list); no stranger answers for those.
 *
 * @param servers `address:port`; absent: those of this machine
 */
export const resolverOf =
  (servers?: readonly string[]): Resolve =>
  async (name, signal) => {
    const bare = name.replace(/\.$/, '');
    if (!bare.includes('.') || bare.endsWith('.localhost'))
      return (await lookup(bare, { all: true })).map(({ address }) => address).slice(0, MOST_ADDRESSES);
    const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: 2, maxTimeout: TIMEOUT_MS });
    if (servers) resolver.setServers(servers);
    const cancel = () => resolver.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      const answers = await Promise.allSettled([resolver.resolve4(bare), resolver.resolve6(bare)]);
      const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
      if (found.length > 0) return found.slice(0, MOST_ADDRESSES);
      throw reasonOf(answers);
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  };

/** That a name has no address of one family says least. */
function reasonOf(answers: readonly PromiseSettledResult<unknown>[]): unknown {
  const reasons = answers.flatMap((answer) =>
    answer.status === 'rejected' ? [answer.reason as { code?: string }] : [],
  );
  return (
    reasons.find(({ code }) => code !== 'ENODATA') ??
    reasons[0] ??
    Object.assign(new Error('the name has no address'), { code: 'ENODATA' })
  );
}
