import type { Client } from 'pg';
import { PublishError } from '../../../src/messaging/kafka';
import type { Relay } from '../../../src/messaging/outbox';
import { ParkedWatch } from '../../../src/messaging/outbox/parking/parked-watch';
import { eventually } from '../../support/eventually';
import { addRows, Bench, RecordingPublisher, until } from './harness';
import { type OutboxApp, startOutboxApp } from './outbox-app';

const [ACME, UMBRA] = ['orders.acme.request.v1', 'orders.umbra.request.v1'];
/** Drains only when somebody asks. */
const PARKING = { afterMs: 0, lookMs: 50, backoff: { initialMs: 3_600_000, maxMs: 3_600_000 } };

describe('the outbox over HTTP', () => {
  const bench = new Bench();
  let publisher: RecordingPublisher;
  let client: Client;
  let outbox: OutboxApp;
  let relay: Relay;
  let broken: boolean;
  beforeEach(async () => {
    await bench.open();
    client = await bench.client();
    publisher = new RecordingPublisher();
    broken = true;
    publisher.before = ({ topic, partition }) => {
      if (partition === 1 && broken) throw new PublishError('topic-missing', 'refused', topic, partition, 'no topic');
    };
    relay = bench.relay(publisher, { parking: PARKING, instance: 'relay-1', leaseMs: 300 });
    outbox = await startOutboxApp(bench.url, relay);
    bench.onClose(() => outbox.close());
  });
  afterEach(() => bench.close());

  const park = async (topic: string, count: number) => {
    const row = (partition: number) => ({ key: 'a', topic, partition });
    const ids = await addRows(client, [...Array.from({ length: count }, () => row(1)), row(0)]);
    await until('the parking', async () => {
      const { rows } = await client.query('SELECT FROM parked_outbound WHERE topic = $1', [topic]);
      return rows.length === count;
    });
    return ids.slice(0, count);
  };

  it('says who sends, what waits, and why, also where no relay runs', async () => {
    await park(ACME, 3);
    await relay.stop();
    // Patient with lanes that fail.
    const second = bench.relay(publisher, { instance: 'relay-2', leaseMs: 300 });
    const status = async () => (await outbox.send('GET', '/v1/outbox')).body;
    // Of an owner whose lease has run out, on a machine that stalls, nothing is known until it is renewed.
    const says = (what: Record<string, unknown>) =>
      eventually(async () => {
        expect(await status()).toMatchObject(what);
        return true;
      });
    await says({
      owner: { instance: 'relay-2', epoch: '2' },
      ...{ pendingIsExact: true, pending: 0, failingLanes: [], waiting: 3, dead: 0, held: 0, retrying: 0 },
      parkedLanes: [
        {
          ...{ topic: ACME, partition: 1, code: 'topic-missing', rows: 3, attempts: 0 },
          reason: expect.stringMatching(/does not exist.*Make it \(again\).*no topic/) as string,
        },
      ],
      oldestParkedAt: expect.any(String) as string,
    });
    publisher.before = () => {
      throw new PublishError('broker-unreachable', 'unknown', ACME, 0, 'gone');
    };
    await addRows(client, [{ key: 'b', topic: UMBRA }]);
    await says({
      failingLanes: [
        {
          topic: UMBRA,
          partition: 0,
          code: 'broker-unreachable',
          reason: expect.stringMatching(/cannot be reached/) as string,
        },
      ],
    });
    await second.stop(0);
    expect(await status()).toMatchObject({ owner: null, pendingIsExact: false, failingLanes: [], waiting: 3 });
    expect(Number((await status())['pending'])).toBeGreaterThanOrEqual(1);
  });

  it('has a parked lane tried at once by an operator, and writes down who asked', async () => {
    const ids = await park(ACME, 5);
    broken = false;
    const viewer = await outbox.keyOf({ role: 'support' });
    const path = `/v1/outbox/lanes/${ACME}/1/retry`;
    expect(await outbox.send('POST', path, {}, viewer.token)).toMatchObject({ status: 403 });
    expect(await outbox.send('POST', path, { reason: 'it is there again' })).toMatchObject({ status: 202 });
    await until('its rows', () => publisher.lanes.get(`${ACME}/1`)?.length === 5);
    expect(publisher.lanes.get(`${ACME}/1`)).toEqual(ids);
    const { rows } = await client.query('SELECT action, object, partner, reason FROM audit_entry WHERE action = $1', [
      'lane.retry',
    ]);
    expect(rows).toEqual([
      { action: 'lane.retry', object: `lane/${ACME}/1`, partner: 'acme', reason: 'it is there again' },
    ]);
    await until('the lane', () => relay.state.parkedLanes.length === 0);
    for (const gone of [path, `/v1/outbox/lanes/${ACME}/x/retry`]) {
      const detail = expect.stringContaining('GET /v1/outbox lists those that are') as string;
      expect(await outbox.send('POST', gone, {})).toMatchObject({
        status: 404,
        body: { code: 'lane-not-parked', detail },
      });
    }
  });

  it.each(['paused', 'suspended'])('says of a %s partner that its lane waits for that', async (state) => {
    await park(ACME, 1);
    await client.query(`UPDATE partner SET state = '${state}' WHERE id = 'acme'`);
    expect(await outbox.send('POST', `/v1/outbox/lanes/${ACME}/1/retry`, {})).toMatchObject({
      status: 409,
      body: { code: `lane-${state}`, detail: expect.stringContaining('Resume acme: then') as string },
    });
  });

  it('shows a key that is confined to a partner this one alone', async () => {
    await park(ACME, 2);
    await park(UMBRA, 3);
    const { token } = await outbox.keyOf({ role: 'operator', partners: ['umbra'] });
    const status = (await outbox.send('GET', '/v1/outbox', undefined, token)).body;
    expect(status).toMatchObject({ waiting: 3, parkedLanes: [{ topic: UMBRA }] });
    const list = (query: string) => outbox.send('GET', `/v1/outbox/parked${query}`, undefined, token);
    expect((await list('')).items.map(({ topic }) => topic)).toEqual([UMBRA, UMBRA, UMBRA]);
    expect((await list(`?topic=${ACME}`)).items).toEqual([]);
    const [foreign] = (await outbox.send('GET', `/v1/outbox/parked?topic=${ACME}`)).items;
    const path = `/v1/outbox/messages/${String(foreign?.['seq'])}/discard`;
    expect(await outbox.send('POST', path, { reason: 'x' }, token)).toMatchObject({
      body: { code: 'outbound-unknown' },
    });
    const detail = expect.stringContaining(`it is waiting. It goes out with its lane: retry ${ACME}/1.`) as string;
    expect(await outbox.send('POST', path, { reason: 'x' })).toMatchObject({
      body: { code: 'outbound-not-dead', detail },
    });
    expect(await outbox.send('POST', `/v1/outbox/lanes/${ACME}/1/retry`, {}, token)).toMatchObject({ status: 404 });
    const elsewhere = await outbox.keyOf({ areas: ['orders'] });
    expect((await outbox.send('GET', '/v1/outbox', undefined, elsewhere.token)).status).toBe(403);
  });

  it('pages through what is parked, by number, and wants a reason for a discard', async () => {
    const ids = await park(ACME, 5);
    const seen: unknown[] = [];
    let cursor = '';
    do {
      const page = await outbox.send('GET', `/v1/outbox/parked?limit=2&state=waiting${cursor}`);
      seen.push(...page.items.map(({ messageId }) => messageId));
      const next = page.body['nextCursor'];
      cursor = typeof next === 'string' ? `&cursor=${next}` : '';
    } while (cursor);
    expect(seen).toEqual(ids);
    for (const [path, code] of [
      ['/v1/outbox/parked?cursor=abc', 'cursor-invalid'],
      ['/v1/outbox/parked?state=sent', 'request-invalid'],
      ['/v1/outbox/parked?limit=500', 'request-invalid'],
    ]) {
      expect(await outbox.send('GET', path ?? '')).toMatchObject({ status: 400, body: { code } });
    }
    expect(await outbox.send('POST', '/v1/outbox/messages/1/discard', {})).toMatchObject({ status: 400 });
    for (const seq of ['999999', 'x']) {
      const gone = await outbox.send('POST', `/v1/outbox/messages/${seq}/discard`, { reason: 'x' });
      expect(gone).toMatchObject({ status: 404, body: { code: 'outbound-unknown' } });
    }
  });

  it('counts what is parked for the metrics, in the owner', async () => {
    await park(ACME, 4);
    const board = outbox.metrics;
    await outbox.app.get(ParkedWatch).count();
    const text = await board.registry.metrics();
    expect(text).toContain('parley_parked_messages{direction="out",state="waiting"} 4');
    expect(text).toContain('parley_outbox_parked_lanes{code="topic-missing"} 1');
    expect(text).toMatch(/parley_outbox_oldest_parked_age_seconds \d/);
    await relay.stop();
    expect(await board.registry.metrics()).not.toContain('direction="out"');
  });
});
