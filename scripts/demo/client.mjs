import { setTimeout as delay } from 'node:timers/promises';

const GIVE_UP_MS = 120_000;

/** A client of the REST API as a careful company writes one: it repeats what it got no answer to, under the same key. */
export class Client {
  retries = 0;

  /** @param key an API key */
  constructor(baseUrl, key) {
    this.baseUrl = baseUrl;
    this.key = key;
  }

  /** Places an order and returns when it is accepted (201). Throws when Parley refuses it, or after two minutes. */
  async place(order) {
    const { status, body } = await this.post('/v1/orders', `demo-${order.orderNumber}`, order);
    if (status !== 201) throw new Error(`order ${order.orderNumber} refused: ${JSON.stringify(body)}`);
    return body;
  }

  /** Asks to cancel an order; false when it can't be cancelled any more (409). Throws as {@link place} does. */
  async cancel(orderNumber, reason) {
    const path = `/v1/orders/${orderNumber}/cancellation`;
    const { status, body } = await this.post(path, `demo-cancel-${orderNumber}`, { reason });
    if (status === 202) return true;
    if (body?.code === 'order-not-cancellable') return false;
    throw new Error(`cancellation of ${orderNumber} refused: ${JSON.stringify(body)}`);
  }

  /** The first answer that settles it. */
  async post(path, key, document) {
    const body = JSON.stringify(document);
    const headers = { 'content-type': 'application/json', 'idempotency-key': key };
    for (const deadline = Date.now() + GIVE_UP_MS; ; this.retries++) {
      const answer = await this.request(path, { method: 'POST', headers, body });
      // No answer, our fault (5xx), or the first try is still running (409): again, with the same key.
      const again = !answer || answer.status >= 500 || answer.body?.code === 'idempotency-key-in-use';
      if (!again) return answer;
      if (Date.now() > deadline) throw new Error(`${path} (${key}) got no answer within two minutes`);
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

  async order(orderNumber) {
    const answer = await this.request(`/v1/orders/${orderNumber}`);
    return answer?.status === 200 ? answer.body : undefined;
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
      const headers = { authorization: `Bearer ${this.key}`, ...options.headers };
      const signal = AbortSignal.timeout(10_000);
      const answer = await fetch(`${this.baseUrl}${path}`, { ...options, headers, signal });
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
