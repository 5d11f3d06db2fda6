import type { Client } from 'pg';
import { freshDatabase } from '../../support/database';
import { addRows, connect, RecordingPublisher, relayOn, until } from './harness';
import type { Relay } from '../../../src/messaging/outbox';

describe('a relay that reads the outbox', () => {
  let url: string;
  let publisher: RecordingPublisher;
  const relays: Relay[] = [];
  const clients: Client[] = [];

  const client = async () => {
    const made = await connect(url);
    clients.push(made);
    return made;
  };
  const start = (options?: Parameters<typeof relayOn>[2]) => {
    const relay = relayOn(url, publisher, options);
    relays.push(relay);
    relay.start();
    return relay;
  };

  beforeEach(async () => {
    url = await freshDatabase();
    publisher = new RecordingPublisher();
  });

  afterEach(async () => {
    await Promise.all(relays.splice(0).map((relay) => relay.stop()));
    await Promise.all(clients.splice(0).map((made) => made.end()));
  });

  it('sends what was committed before and after it started, once, in order', async () => {
    const writer = await client();
    const before = await addRows(writer, [{ key: 'a' }, { key: 'b' }]);
    const relay = start();
    await until('the first rows', () => publisher.sent === 2);
    const after = await addRows(writer, [{ key: 'a' }, { key: 'b' }]);
    relay.wake();
    await until('the later rows', () => publisher.sent === 4);
    expect(publisher.firsts()).toEqual([...before, ...after]);
    await relay.stop();
    start();
    const last = await addRows(writer, [{ key: 'c' }]);
    await until('the last row', () => publisher.sent === 5);
    expect(publisher.firsts().at(-1)).toBe(last[0]);
  });

  it('skips no row when the later number commits first', async () => {
    const [early, late] = [await client(), await client()];
    const relay = start();
    await until('the lease', () => relay.state.role === 'owner');
    await early.query('BEGIN');
    const [first] = await addRows(early, [{ key: 'a' }]);
    const [second] = await addRows(late, [{ key: 'b' }]);
    await until('the later number', () => publisher.sent === 1);
    await until('a cursor beyond it', async () => {
      const { rows } = await late.query<{ ok: boolean }>(
        `SELECT pg_visible_in_snapshot((SELECT max(xid) FROM outbox_message), done) AS ok FROM outbox_cursor`,
      );
      return rows[0]?.ok ?? false;
    });
    await early.query('COMMIT');
    await until('the earlier number', () => publisher.sent === 2);
    expect(publisher.firsts()).toEqual([second, first]);
  });

  it('pages a large backlog, in order, and leaves nothing out', async () => {
    const writer = await client();
    const ids: string[] = [];
    for (let i = 0; i < 30; i++) {
      ids.push(
        ...(await addRows(
          writer,
          Array.from({ length: 33 }, (_, n) => ({ key: `k${n}`, partition: n % 3 })),
        )),
      );
    }
    start({ pageRows: 50, readAheadRows: 100 });
    await until('all rows', () => publisher.sent >= 990);
    for (const partition of [0, 1, 2]) {
      expect(publisher.firsts(`orders.acme.request.v1/${partition}`)).toEqual(
        ids.filter((_, i) => (i % 33) % 3 === partition),
      );
    }
    expect(publisher.sent).toBe(990);
  });
});
