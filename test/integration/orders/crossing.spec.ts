import 'reflect-metadata';
import {
  type AnyContract,
  orderCancellation,
  orderCancellationResponse,
  orderRequest,
  orderResponse,
  topicFor,
  typeOf,
} from '../../../src/contracts';
import { Database } from '../../../src/platform/database';
import { createLogger } from '../../../src/platform/telemetry';
import { type Running, start } from '../../../src/start';
import { testConfig } from '../../support/config';
import { freshDatabase } from '../../support/database';
import { eventually } from '../../support/eventually';
import { produce, readAll, type StoredRecord, uniqueName } from '../../support/kafka';
import { onboard } from '../../support/partners';
import { giveKey, type TestKey } from '../../support/staff';

const ORDERS = 32;
const partner = uniqueName('cross');

type State = 'placed' | 'accepted' | 'rejected' | 'cancelled';
type Cancelled = 'agreed' | 'refused';

/** A partner with a mind of its own: it answers in the order in which it decides. */
class Peer {
  readonly states = new Map<string, State>();
  readonly cancellations = new Map<string, Cancelled>();
  private readonly orders: StoredRecord[] = [];
  private readonly asked: StoredRecord[] = [];
  said = 0;

  /** Takes what its topic holds now, if it is all that was sent. */
  async read(contract: AnyContract): Promise<boolean> {
    const records = await readAll(topicFor(orderRequest, partner));
    const ofType = records.filter(({ headers }) => String(headers['ce_type']) === typeOf(contract));
    if (ofType.length < ORDERS) return false;
    (contract === orderRequest ? this.orders : this.asked).push(...ofType);
    if (contract === orderRequest) for (const { key } of ofType) this.states.set(String(key), 'placed');
    return true;
  }

  /** Accepts or rejects the orders that `wants` names, one after the other; each once `before` lets it. */
  async answerOrders(
    wants: (index: number) => State | undefined,
    before: (orderNumber: string, state: State) => unknown = () => undefined,
  ): Promise<void> {
    for (const [index, order] of this.orders.entries()) {
      const state = wants(index);
      if (!state) continue;
      const number = String(order.key);
      await before(number, state);
      // Who has cancelled may still close the order itself.
      if (this.states.get(number) !== 'cancelled') this.states.set(number, state);
      await this.say(orderResponse, order, state === 'accepted' ? 'AP' : 'RE');
    }
  }

  async answerCancellations(agrees: (index: number) => boolean): Promise<void> {
    const index = new Map(this.orders.map(({ key }, at) => [String(key), at]));
    for (const cancellation of this.asked) {
      const number = String(cancellation.key);
      const isAgreed = agrees(index.get(number) ?? 0);
      this.cancellations.set(number, isAgreed ? 'agreed' : 'refused');
      if (isAgreed && this.states.get(number) !== 'rejected') this.states.set(number, 'cancelled');
      await this.say(orderCancellationResponse, cancellation, isAgreed ? 'AP' : 'RE');
    }
  }

  private async say(contract: AnyContract, { key, headers }: StoredRecord, responseCode: string): Promise<void> {
    const value = { orderNumber: String(key), responseCode, issuedAt: '2026-02-03T05:01:00.000Z' };
    await produce(topicFor(contract, partner), [
      {
        key,
        value: JSON.stringify(value),
        headers: {
          ...{
            ce_specversion: '1.0',
            ce_id: `said-${++this.said}`,
            ce_type: typeOf(contract),
            ce_source: `/${partner}`,
          },
          ...{ ce_correlationid: String(headers['ce_correlationid']), 'content-type': 'application/json' },
        },
      },
    ]);
  }
}

describe('orders and cancellations that cross the answers, on a real broker', () => {
  let running: Running;
  let key: TestKey;

  beforeAll(async () => {
    const config = testConfig(await freshDatabase(), { KAFKA_CONSUMER_GROUP: uniqueName('group') });
    running = await start(config, createLogger('silent', 'test'));
    await running.started;
    const database = running.app.get(Database);
    key = await giveKey(database);
    await onboard(database, config, { partner, format: 'json', partitions: 3 });
  });
  afterAll(() => running?.lifecycle.stop('test'));

  const post = async (path: string, body: unknown): Promise<Record<string, unknown>> => {
    const headers = { ...key.headers, 'content-type': 'application/json', 'idempotency-key': uniqueName('key') };
    const response = await fetch(`${running.apiUrl}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    return (await response.json()) as Record<string, unknown>;
  };
  const ends = async () => {
    const response = await fetch(`${running.apiUrl}/v1/orders?limit=200`, { headers: { ...key.headers } });
    const { items } = (await response.json()) as {
      items: { orderNumber: string; state: State; cancellation: { state: string } | null }[];
    };
    return Object.fromEntries(items.map((order) => [order.orderNumber, `${order.state} ${order.cancellation?.state}`]));
  };

  it('end the same on both sides, with nothing refused', async () => {
    const peer = new Peer();
    const line = { lineNumber: 1, item: 'A', quantity: '1', unit: 'C62', unitPrice: '1' };
    const placed = await Promise.all(
      Array.from({ length: ORDERS }, () => post('/v1/orders', { partner, currency: 'EUR', lines: [line] })),
    );
    await eventually(() => peer.read(orderRequest), { timeout: 60_000, what: 'the partner has all orders' });
    // Half of the orders are answered while they are being cancelled, before the partner knows of that.
    const asked = new Map(
      placed.map(({ orderNumber }) => [
        String(orderNumber),
        post(`/v1/orders/${String(orderNumber)}/cancellation`, { reason: 'r' }),
      ]),
    );
    await Promise.all([
      peer.answerOrders(
        (index) => (['accepted', 'rejected', undefined, undefined] as const)[index % 4],
        // What is rejected already can't be cancelled any more.
        (orderNumber, state) => state === 'rejected' && asked.get(orderNumber),
      ),
      ...asked.values(),
    ]);
    await eventually(() => peer.read(orderCancellation), {
      timeout: 60_000,
      what: 'the partner has all cancellations',
    });
    // A quarter is accepted with the cancellation already there; the last quarter is closed after it.
    await peer.answerOrders((index) => (index % 4 === 2 ? 'accepted' : undefined));
    await peer.answerCancellations((index) => index % 8 < 4);
    await peer.answerOrders((index) => (index % 4 === 3 ? 'rejected' : undefined));
    const theirs = Object.fromEntries(
      [...peer.states].map(([number, state]) => [number, `${state} ${peer.cancellations.get(number)}`]),
    );
    const database = running.app.get(Database);
    const taken = async () => (await database.query('SELECT 1 FROM inbox')).length === peer.said;
    await eventually(taken, { timeout: 60_000, what: 'every answer is taken' });
    expect(await ends()).toEqual(theirs);
    expect(new Set(Object.values(theirs))).toEqual(
      new Set(['cancelled agreed', 'accepted refused', 'rejected agreed', 'rejected refused']),
    );
    const unresolved = await database.query<Record<string, unknown>>(
      `SELECT (SELECT count(*)::int FROM parked_inbound) AS parked, (SELECT count(*)::int FROM exchange WHERE state IN ('awaiting', 'acknowledged')) AS open`,
    );
    expect(unresolved).toEqual([{ parked: 0, open: 0 }]);
  });
});
