import type { Client } from 'pg';
import { type LaneBatch, PublishError } from '../../../src/messaging/kafka';
import { addRows, Bench, RecordingPublisher, until } from './harness';
import { type OutboxApp, startOutboxApp } from './outbox-app';

const TOPIC = 'orders.acme.request.v1';
const LANE = `${TOPIC}/0`;
const PARKING = { afterMs: 0, lookMs: 50, backoff: { initialMs: 100, maxMs: 200 } };

describe('a record that the broker refuses for good', () => {
  const bench = new Bench();
  let publisher: RecordingPublisher;
  let client: Client;
  let outbox: OutboxApp;
  /** Ids of records that the broker refuses. */
  let refused: Set<string>;
  beforeEach(async () => {
    await bench.open();
    client = await bench.client();
    outbox = await startOutboxApp(bench.url);
    bench.onClose(() => outbox.close());
    publisher = new RecordingPublisher();
    refused = new Set<string>();
    publisher.before = ({ topic, partition, records }) => {
      if (records.some((record) => refused.has(String(record.headers['ce_id'])))) {
        throw new PublishError('message-too-large', 'refused', topic, partition, 'the batch is too large');
      }
    };
  });
  afterEach(async () => {
    await bench.close();
    // Neither by two clients.
    expect(publisher.overlapping).toBe(0);
  });

  const sentOf = (ids: readonly (string | undefined)[]) => publisher.firsts(LANE).filter((id) => ids.includes(id));
  const states = async () =>
    (await outbox.send('GET', '/v1/outbox/parked')).items.map(({ messageId, state }) => [messageId, state]);
  const seqOf = async (id: string | undefined) => {
    const { items } = await outbox.send('GET', '/v1/outbox/parked');
    return String(items.find(({ messageId }) => messageId === id)?.['seq']);
  };
  const recordOf = (id: string | undefined) =>
    publisher.batches.flatMap((batch: LaneBatch) => batch.records).find((record) => record.headers['ce_id'] === id);
  /** 40 rows of the keys a and b by turns; the 11th is refused. */
  const addAround = async () => {
    const ids: string[] = Array.from({ length: 40 }, () => crypto.randomUUID());
    refused.add(ids[10] ?? '');
    await addRows(
      client,
      ids.map((id, n) => ({ id, key: n % 2 === 0 ? 'a' : 'b' })),
    );
    return { bad: ids[10], a: ids.filter((_, n) => n % 2 === 0), b: ids.filter((_, n) => n % 2 === 1) };
  };

  it('is found by halving, holds its key alone, and says why; the rest of its lane flows and the cursor passes', async () => {
    const relay = bench.relay(publisher, { parking: PARKING });
    // Others flow: were it the lane that failed, it would be parked.
    const [other] = await addRows(client, [{ key: 'c', partition: 1 }]);
    await until('another lane', () => publisher.firsts().includes(other ?? ''));
    const { bad, a, b } = await addAround();
    await until('the others of its lane', () => sentOf(b).length === b.length);
    await until('the parking', async () => (await states()).length === 15);
    const [later] = await addRows(client, [{ key: 'a' }]);
    await until('the follower', async () => (await states()).length === 16);
    expect(sentOf(b)).toEqual(b);
    expect(sentOf(a)).toEqual(a.slice(0, 5));
    expect(await states()).toEqual([[bad, 'dead'], ...[...a.slice(6), later].map((id) => [id, 'held'])]);
    await until('the lanes', () => relay.state.failingLanes.length + relay.state.pendingRows === 0);
    expect(relay.state.parkedLanes).toEqual([]);
    const { items } = await outbox.send('GET', '/v1/outbox/parked?state=dead');
    expect(items).toMatchObject([{ key: 'a', code: 'message-too-large', topic: TOPIC, partition: 0 }]);
    expect(items[0]?.['detail']).toMatch(/larger than the topic takes.*max\.message\.bytes.*the batch is too large/);
    expect((await outbox.send('GET', '/v1/outbox')).body).toMatchObject({ dead: 1, held: 15, parkedLanes: [] });
  });

  it('is sent again by staff under its id, says so in its headers, and what it held follows in order', async () => {
    bench.relay(publisher, { parking: PARKING });
    const { bad, a } = await addAround();
    await until('the parking', async () => (await states()).length === 15);
    refused.clear();
    const answer = await outbox.send('POST', `/v1/outbox/messages/${await seqOf(bad)}/retry`, {
      reason: 'made larger',
    });
    expect(answer).toMatchObject({ status: 202, body: { state: 'retrying', messageId: bad, replayAttempt: 1 } });
    a.push(...(await addRows(client, [{ key: 'a' }])));
    await until('all of its key', () => sentOf(a).length === a.length);
    expect(sentOf(a)).toEqual(a);
    expect(recordOf(bad)?.headers).toMatchObject({
      ce_id: bad,
      'parley-replay-id': answer.body['replayId'],
      'parley-replay-by': outbox.id,
      'parley-replay-attempt': '1',
    });
    expect(recordOf(a[6])?.headers).not.toHaveProperty('parley-replay-id');
    await until('an empty table', async () => (await states()).length === 0);
    a.push(...(await addRows(client, [{ key: 'a' }])));
    await until('the row behind them', () => sentOf(a).length === a.length);
    expect(sentOf(a)).toEqual(a);
    const { rows } = await client.query(
      'SELECT caller, action, reason, partner FROM audit_entry WHERE object LIKE $1',
      ['outbound/%'],
    );
    expect(rows).toEqual([{ caller: outbox.id, action: 'outbound.retry', reason: 'made larger', partner: 'acme' }]);
    expect((await client.query('SELECT FROM parked_outbound_key')).rows).toEqual([]);
  });

  it('is sent again behind what its lane is sending: each row goes out once, and has its own receipt', async () => {
    const relay = bench.relay(publisher, { parking: PARKING });
    const { bad, a } = await addAround();
    await until('the parking', async () => (await states()).length === 15);
    refused.clear();
    const gate = Promise.withResolvers<void>();
    const before = publisher.sent;
    let started = 0;
    publisher.before = () => (++started === 1 ? gate.promise : undefined);
    const own = await addRows(client, [{ key: 'b' }, { key: 'b' }]);
    await until('the send', () => started === 1);
    await outbox.send('POST', `/v1/outbox/messages/${await seqOf(bad)}/retry`, {});
    await until('the dead letter in its lane', () => relay['session']?.lanes.lane(TOPIC, 0).guest !== undefined);
    gate.resolve();
    const following = [...own, ...a.slice(5)];
    await until('all of its key', () => publisher.sent >= before + following.length);
    await until('an empty table', async () => (await states()).length === 0);
    const sent = publisher.lanes.get(LANE) ?? [];
    expect(sent.slice(before)).toEqual(following);
    await until('the cursor', () => relay.state.pendingRows === 0);
    await relay.stop();
    const { rows } = await client.query<{ id: string; places: string[] }>(
      `SELECT m.id, array_agg((r.base_offset + array_position(r.seqs, m.seq) - 1)::text) AS places
       FROM outbox_message m JOIN outbox_receipt r ON m.seq = ANY(r.seqs) GROUP BY 1`,
    );
    expect(new Map(rows.map(({ id, places }) => [id, places]))).toEqual(
      new Map(sent.map((id, offset) => [id, [String(offset)]])),
    );
  });

  it('is a dead letter again when it is refused again; discarded, it lets its key go', async () => {
    bench.relay(publisher, { parking: PARKING });
    const { bad, a } = await addAround();
    await until('the parking', async () => (await states()).length === 15);
    const seq = await seqOf(bad);
    await outbox.send('POST', `/v1/outbox/messages/${seq}/retry`, {});
    await until('the second death', async () => (await states())[0]?.[1] === 'dead');
    expect(sentOf(a)).toEqual(a.slice(0, 5));
    const answer = await outbox.send('POST', `/v1/outbox/messages/${seq}/discard`, { reason: 'sent by mail' });
    expect(answer).toMatchObject({ status: 200, body: { state: 'discarded', discardReason: 'sent by mail' } });
    const others = a.filter((id) => id !== bad);
    await until('the others of its key', () => sentOf(a).length === others.length);
    expect(sentOf(a)).toEqual(others);
    expect((await outbox.send('GET', '/v1/outbox/parked?state=discarded')).items).toMatchObject([{ messageId: bad }]);
    expect(await outbox.send('POST', `/v1/outbox/messages/${seq}/retry`, {})).toMatchObject({
      status: 409,
      body: { code: 'outbound-not-dead' },
    });
  });

  it('is known to the next owner, which sends nothing of its key', async () => {
    const first = bench.relay(publisher, { parking: PARKING });
    const { a, b } = await addAround();
    await until('the parking', async () => (await states()).length === 15);
    await first.stop();
    bench.relay(publisher, { parking: PARKING });
    const [later, other] = await addRows(client, [{ key: 'a' }, { key: 'b' }]);
    await until('the other key', () => sentOf([...b, other]).length === b.length + 1);
    await until('the follower', async () => (await states()).at(-1)?.[0] === later);
    expect(sentOf([...a, later])).toEqual(a.slice(0, 5));
  });

  it('found in a parked lane that is drained, holds its key alone there too', async () => {
    let broken = true;
    const judge = publisher.before;
    publisher.before = (batch) => {
      if (broken && batch.partition === 0)
        throw new PublishError('not-authorized', 'refused', batch.topic, 0, 'no right to write');
      return judge(batch);
    };
    const relay = bench.relay(publisher, { parking: PARKING });
    const { bad, a, b } = await addAround();
    await addRows(client, [{ key: 'c', partition: 1 }]);
    await until('the parking', async () => (await states()).length === 40);
    expect((await states()).every(([, state]) => state === 'waiting')).toBe(true);
    broken = false;
    await until('the lane', () => relay.state.parkedLanes.length === 0);
    await until('the others of its lane', () => sentOf(b).length === b.length);
    expect(sentOf(a)).toEqual(a.slice(0, 5));
    expect(await states()).toEqual([[bad, 'dead'], ...a.slice(6).map((id) => [id, 'held'])]);
    refused.clear();
    await outbox.send('POST', `/v1/outbox/messages/${await seqOf(bad)}/retry`, {});
    await until('all of its key', () => sentOf(a).length === a.length);
    expect(sentOf(a)).toEqual(a);
  });

  it('is told from what is wrong with its topic: then its lane waits, and nothing is dead', async () => {
    publisher.before = ({ topic, partition }) => {
      if (partition === 0) throw new PublishError('not-authorized', 'refused', topic, partition, 'no right to write');
    };
    const relay = bench.relay(publisher, { parking: PARKING });
    await addRows(client, [{ key: 'a' }, { key: 'b' }, { key: 'c', partition: 1 }]);
    await until('the parking', () => relay.state.parkedLanes.length === 1);
    await until('the rows', async () => (await states()).length === 2);
    expect((await states()).map(([, state]) => state)).toEqual(['waiting', 'waiting']);
  });
});
