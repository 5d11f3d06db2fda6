import { setTimeout as delay } from 'node:timers/promises';

const GIVE_UP_MS = 120_000;

/** A client of the REST API as a careful company writes one: it repeats what it got no answer to, under the same key. */
export class Client {
  retries = 0;

  constructor(baseUrl) {
    this.baseUrl = baseUrl;
  }

  /** Places an order and returns when it is accepted (201). Throws when Parley refuses it, or after two minutes. */
  async place(order) {
    const body = JSON.stringify(order);
    const headers = { 'content-type': 'application/json', 'idempotency-key': `demo-${order.orderNumber}` };
    for (const deadline = Date.now() + GIVE_UP_MS; ; this.retries++) {
      const answer = await this.request('/v1/orders', { method: 'POST', headers, body });
      if (answer?.status === 201) return answer.body;
      // No answer, our fault (5xx), or the first try is still running (409): again, with the same key.
      const again = !answer || answer.status >= 500 || answer.body?.code === 'idempotency-key-in-use';
      if (!again) throw new Error(`order ${order.orderNumber} refused: ${JSON.stringify(answer.body)}`);
      if (Date.now() > deadline) throw new Error(`order ${order.orderNumber} got no answer within two minutes`);
      await delay(100 + Math.random() * 200);
    }
  }

  /** Every order by number, as the API lists them; undefined while it can't be asked. */
  async orders() {
    const found = new Map();
    for (let cursor = ''; ;) {
      const page = await this.request(`/v1/orders?limit=200${cursor && `&cursor=${cursor}`}`);
      if (page?.status !== 200) return undefined;
      for (const order of page.body.items) found.set(order.orderNumber, order);
      cursor = page.body.nextCursor;
      if (!cursor) return found;
    }
  }

  async timeline(orderNumber) {
    const answer = await this.request(`/v1/orders/${orderNumber}/timeline`);
    if (answer?.status !== 200) throw new Error(`no timeline of ${orderNumber}: ${JSON.stringify(answer?.body)}`);
    return answer.body;
  }

  /** Timelines of many orders, some at a time. */
  async timelines(orderNumbers) {
    const found = new Map();
    await inParallel(orderNumbers, 8, async (number) => found.set(number, await this.timeline(number)));
    return found;
  }

  /** Status and body, or undefined when nobody answered. */
  async request(path, options = {}) {
    try {
      const answer = await fetch(`${this.baseUrl}${path}`, { ...options, signal: AbortSignal.timeout(10_000) });
      return { status: answer.status, body: await answer.json() };
    } catch {
      return undefined;
    }
  }
}

/** Runs `work` over the items, `width` at a time, in their order. */
export async function inParallel(items, width, work) {
  const queue = items[Symbol.iterator]();
  const worker = async () => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: width }, worker));
}
