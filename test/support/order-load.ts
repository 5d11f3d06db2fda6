import { setTimeout as delay } from 'node:timers/promises';
import { uniqueName } from './kafka';
import type { ParleyProcess } from './parley-process';

/** Callers that place orders and, as a good client does, repeat a request under its key until it is answered. */
export class OrderLoad {
  /** Number by Idempotency-Key, of every order that Parley said it took. */
  readonly accepted = new Map<string, string>();
  private readonly stopping = new AbortController();
  private readonly run = uniqueName('load');
  private next = 0;
  private callers: Promise<void>[] = [];

  constructor(
    private readonly parley: Pick<ParleyProcess, 'request'>,
    private readonly partner: string,
    private readonly pauseMs: number,
  ) {}

  start(callers: number): void {
    this.callers = Array.from({ length: callers }, () => this.call());
  }

  /** No new orders; what was begun is repeated until it is answered. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.callers);
  }

  private async call(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      await this.place(`${this.run}-${this.next++}`);
      await delay(this.pauseMs * Math.random() * 2);
    }
  }

  private async place(key: string): Promise<void> {
    const body = JSON.stringify({
      partner: this.partner,
      currency: 'EUR',
      lines: [{ lineNumber: 1, item: 'X1', quantity: '2', unit: 'C62', unitPrice: '9.50' }],
    });
    for (;;) {
      try {
        const answer = await this.parley.request('/v1/orders', {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'idempotency-key': key },
          body,
          signal: AbortSignal.timeout(10_000),
        });
        if (answer.status === 201) {
          this.accepted.set(key, ((await answer.json()) as { orderNumber: string }).orderNumber);
          return;
        }
        if (answer.status < 500 && answer.status !== 409)
          throw new RefusedError(`${answer.status} ${await answer.text()}`);
      } catch (error) {
        if (error instanceof RefusedError) throw error;
      }
      await delay(50);
    }
  }
}

class RefusedError extends Error {}
