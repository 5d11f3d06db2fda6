import { Client } from 'pg';
import { systemClock } from '../../../src/platform/clock';
import { isDatabaseOutage } from '../../../src/platform/database';
import { createLogger } from '../../../src/platform/telemetry';
import { newToken } from '../../../src/staff/api-key-token';
import { KeyRing } from '../../../src/staff/key-ring';
import { freshDatabase } from '../../support/database';
import { giveKey } from '../../support/staff';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy';
import { anOrder, databaseUrl, type OrdersApp, place, startOrders } from '../orders/orders-app';

describe('API keys in memory', () => {
  let orders: OrdersApp;
  let wire: TcpProxy;

  beforeAll(async () => {
    const url = new URL(await freshDatabase());
    wire = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
    url.hostname = '127.0.0.1';
    url.port = String(wire.port);
    orders = await startOrders({ databaseUrl: url.href });
  });
  afterAll(async () => {
    wire.refuse(false);
    await orders.close();
    await wire.close();
  });

  const ringOf = () => {
    const { database } = orders;
    /** When each began. */
    const readings: number[] = [];
    const counting = {
      query: <Row>(sql: string, values?: Record<string, unknown>) => {
        readings.push(performance.now());
        return database.query<Row>(sql, values);
      },
      transaction: database.transaction.bind(database),
    };
    return { readings, ring: new KeyRing(counting, systemClock, createLogger('silent', 'test')) };
  };

  it('are read once for any number of requests', async () => {
    const { ring, readings } = ringOf();
    await Promise.all(Array.from({ length: 200 }, () => ring.authenticate(orders.key.token)));
    expect(readings).toHaveLength(1);
  });

  it('are read at most 20 times a second, however many made-up ids are asked for, and known keys are answered all the while', async () => {
    const { ring, readings } = ringOf();
    await ring.authenticate(orders.key.token);
    // Guesses one after the other, and many at a time.
    for (let round = 0; round < 20; round++) {
      const guesses = Array.from({ length: 30 }, () => ring.authenticate(newToken().token));
      await expect(ring.authenticate(orders.key.token)).resolves.toMatchObject({ id: orders.key.id });
      for (const guess of await Promise.allSettled(guesses)) {
        expect(guess).toMatchObject({ status: 'rejected', reason: { code: 'unauthenticated' } });
      }
    }
    const pauses = readings.slice(1).map((at, index) => at - (readings[index] ?? 0));
    expect(readings.length).toBeGreaterThan(10);
    // A timer may come a millisecond early.
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(48);
  });

  it('open until the moment at which they expire', async () => {
    const expiresAt = new Date(Date.now() + 3_600_000);
    const { token, id } = await giveKey(orders.database, { expiresAt });
    let now = new Date(expiresAt.getTime() - 1);
    const ring = new KeyRing(orders.database, { now: () => now }, createLogger('silent', 'test'));
    await expect(ring.authenticate(token)).resolves.toMatchObject({ id });
    now = expiresAt;
    await expect(ring.authenticate(token)).rejects.toThrow('has expired');
  });

  it('that ended long ago are not held', async () => {
    const { id, token } = await giveKey(orders.database);
    const client = new Client({ connectionString: databaseUrl(orders.database) });
    await client.connect();
    await client.query(`UPDATE api_key SET revoked_at = now() - interval '31 days' WHERE id = $1`, [id]);
    await client.end();
    await expect(ringOf().ring.authenticate(token)).rejects.toThrow('There is no such API key.');
  });

  it('make a request answer 503, not 401, while the database is away and they are too old to believe', async () => {
    wire.refuse(true);
    wire.cutAll();
    // A ring that has read nothing yet: nobody knows.
    const error: unknown = await ringOf()
      .ring.authenticate(orders.key.token)
      .catch((reason: unknown) => reason);
    expect(isDatabaseOutage(error)).toBe(true);
    const unknown = { ...orders, key: { ...orders.key, headers: { authorization: `Bearer ${newToken().token}` } } };
    expect(await place(unknown, anOrder())).toMatchObject({ status: 503, json: { code: 'database-unavailable' } });
  });
});
