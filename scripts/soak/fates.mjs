/** Of a hundred that come one is refused for now; of two hundred one is kept, and whoever sent it never hears so. */
const REFUSED_EVERY = 100;
const UNANSWERED_EVERY = 200;

/** Lets mail server and webhook fail at times; returns how often each did. */
export function troubleProviders({ mailbox, hook }) {
  const counts = { refused: 0, unanswered: 0 };
  for (const provider of [mailbox, hook]) {
    let come = 0;
    provider.fate = () => {
      come++;
      const fate = come % UNANSWERED_EVERY === 60 ? 'unanswered' : come % REFUSED_EVERY === 30 ? 'refused' : undefined;
      if (fate !== undefined) counts[fate]++;
      return fate;
    };
  }
  return counts;
}
