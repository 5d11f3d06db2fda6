import { setTimeout as delay } from 'node:timers/promises';
import { byOrder, readJournal } from './compare.mjs';
import { isSettled } from './expectation.mjs';
import { orderOf } from './orders.mjs';

/** Orders of one series, each placed for something that is told of it. */
export class Story {
  accepted = new Set();
  asked = new Set();

  constructor(system, client, series) {
    this.system = system;
    this.client = client;
    this.series = series;
  }

  numberOf = (name) => `${this.series}-${name}`;

  async place(name, partner, lines) {
    const { orderNumber } = await this.client.place(orderOf(this.numberOf(name), partner, lines));
    this.accepted.add(orderNumber);
  }

  async cancel(name) {
    if (await this.client.cancel(this.numberOf(name), 'ordered twice')) this.asked.add(this.numberOf(name));
  }

  async until(name, condition) {
    await eventually(this.numberOf(name), async () => {
      const order = await this.client.order(this.numberOf(name));
      return order !== undefined && condition(order);
    });
  }

  /** Waits until all of it has come to its end on both sides; returns the timelines. */
  async settled() {
    for (const number of this.accepted) await this.end(number);
    return this.client.timelines([...this.accepted]);
  }

  /** Waits until an order has come to its end on both sides. */
  end(number) {
    return eventually(number, async () => {
      const order = await this.client.order(number);
      return order && isSettled(order, byOrder(readJournal(this.system.journal)).get(number) ?? []);
    });
  }
}

/** Waits until it holds; throws after 30 s. Returns what `condition` did. */
export async function eventually(what, condition) {
  for (const deadline = Date.now() + 30_000; ; await delay(20)) {
    const found = await condition();
    if (found) return found;
    if (Date.now() > deadline) throw new Error(`${what} did not come to its end within 30 s.`);
  }
}
