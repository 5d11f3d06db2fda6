import { setTimeout as delay } from 'node:timers/promises';
import { inParallel } from '../demo/client.mjs';
import { compare, readJournal } from '../demo/compare.mjs';
import { orderNumbered, PARTNERS as DEMO_PARTNERS } from '../demo/orders.mjs';

/** Umbrella speaks plain JSON, in which the soak can write what no careful partner would. */
export const UMBRELLA = { id: 'umbrella', name: 'Umbrella SA', format: 'json' };
export const PARTNERS = [...DEMO_PARTNERS, UMBRELLA];

/**
 * Goods leave with the acceptance, on another topic: many an advice is read before it and has to
 * wait, about one record in a hundred. Umbrella's orders are only
 * accepted, since an answer that contradicts the first holds what comes later.
 */
export const MANNERS = [
  ...['--behaviour', 'accept=77,slow=8,reject=4,change=4,duplicate=5,ship=1,over-ship=1'],
  ...['--rule', 'UMBRELLA-*=accept', '--cancellation', 'agree=2,refuse', '--slow-ms', '300', '--ship-ms', '0'],
];

/** Of so many orders one is cancelled as soon as it is accepted. */
const CANCEL_EVERY = 20;
/** Requests under way at once, so that a dead broker or database doesn't pile up callers without end. */
const CALLERS = 32;

/** Callers that place orders at a steady rate; after an outage they catch up. */
export class Load {
  accepted = new Set();
  asked = new Set();

  constructor(client, { seconds, rate }) {
    this.client = client;
    this.total = seconds * rate;
    this.rate = rate;
  }

  async run() {
    const begun = Date.now();
    await inParallel(Array(this.total).keys(), CALLERS, async (index) => {
      await delay(Math.max(0, begun + (index * 1000) / this.rate - Date.now()));
      await this.place(index);
    });
  }

  async place(index) {
    const { id } = PARTNERS[index % PARTNERS.length];
    const series = id === UMBRELLA.id ? 'UMBRELLA' : 'SOAK';
    const { orderNumber } = await this.client.place(orderNumbered(series, index, id));
    this.accepted.add(orderNumber);
    if (id === UMBRELLA.id || index % CANCEL_EVERY > 0) return;
    if (await this.client.cancel(orderNumber, 'The customer changed its mind.')) this.asked.add(orderNumber);
  }

  /** What the partners saw and did, against what became of the orders. */
  compare(journalFile, timelines) {
    const journal = readJournal(journalFile).filter(({ order }) => order !== undefined && order !== '');
    return compare([...this.accepted], journal, timelines, [...this.asked]);
  }
}
