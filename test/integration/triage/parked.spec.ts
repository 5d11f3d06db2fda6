import { answer, ask, auditOf, broken, itemsOf, type Row, startTriage, type TriageApp } from './triage-app';

describe('parked messages', () => {
  let triage: TriageApp;
  /** Orders whose answers come too early. */
  const early = new Set<string>();

  beforeAll(async () => {
    triage = await startTriage();
    triage.decide = ({ value }) =>
      early.has(value.orderNumber)
        ? { kind: 'retry', code: 'too-early', detail: 'The order is not known yet.' }
        : undefined;
  });
  afterAll(() => triage.close());
  beforeEach(async () => {
    early.clear();
    triage.applied.length = 0;
    await triage.database.transaction((tx) => tx.query('TRUNCATE parked_inbound, parked_key CASCADE'));
  });

  const parked = (query = '', who: 'viewer' | 'acme' = 'viewer') => itemsOf(triage, `/v1/parked?${query}`, who);
  /** Its next attempt is due in an hour: the pause that was drawn may be over before the test goes on. */
  const tooEarly = async (order: string, partner = 'acme'): Promise<void> => {
    early.add(order);
    await triage.deliver(answer(order, {}, { partner }));
    await triage.database.transaction((tx) =>
      tx.query(`UPDATE parked_inbound SET next_attempt_at = now() + interval '1 hour' WHERE state = 'waiting'`),
    );
  };
  const retryAll = (body: object, plan = false) =>
    ask(triage, 'support', `POST /v1/parked/retry${plan ? '?plan=true' : ''}`, body);

  it('say for what they wait, oldest first', async () => {
    await tooEarly('w-1');
    await triage.deliver(answer('w-1'), broken('w-2'));
    await triage.deliver(answer('w-2'));
    const found = await parked();
    expect(found).toMatchObject([
      {
        key: 'w-1',
        state: 'waiting',
        code: 'too-early',
        attempts: 1,
        held: 1,
        reason:
          'Tried once: The order is not known yet (too-early). It is tried again at the time of its next attempt.',
        contract: 'order-response.v1',
        behind: null,
      },
      { key: 'w-1', state: 'held', attempts: 0, nextAttemptAt: null, behind: found[0]?.id },
      { key: 'w-2', state: 'held', code: null },
    ]);
    expect(Date.parse(String(found[0]?.['nextAttemptAt']))).toBeGreaterThan(Date.now() - 60_000);
    expect(found[1]?.['reason']).toBe(`It waits behind message ${found[0]?.id} of its key, which waits (too-early).`);
    const [dead] = await itemsOf(triage, '/v1/dead-letters?order=w-2');
    expect(found[2]?.['reason']).toBe(
      `It waits behind message ${dead?.id} of its key, which is a dead letter (invalid).`,
    );
  });

  it('name what holds them, not what has lost its place in their key', async () => {
    await tooEarly('free-1');
    // As a contract that lets later messages go on leaves one that failed.
    await triage.database.transaction((tx) =>
      tx.query(`UPDATE parked_inbound SET state = 'dead', holds = false; DELETE FROM parked_key`),
    );
    await triage.deliver(answer('free-1'));
    await triage.deliver(answer('free-1'));
    const [waiting, held] = await parked('key=free-1');
    expect([waiting, held]).toMatchObject([{ state: 'waiting', held: 1 }, { state: 'held' }]);
    expect(held?.['behind']).toBe(waiting?.id);
    await triage.database.transaction((tx) => tx.query(`UPDATE parked_inbound SET holds = (state = 'dead')`));
    const [free] = await itemsOf(triage, '/v1/dead-letters?order=free-1');
    expect(free).toMatchObject({ state: 'dead', held: 0 });
  });

  it('are found by partner, key and state, each once over the pages', async () => {
    for (const partner of ['acme', 'umbra']) for (const n of [1, 2, 3]) await tooEarly(`f-${n}`, partner);
    await triage.deliver(answer('f-1'));
    expect(await parked('partner=umbra')).toHaveLength(3);
    expect(await parked('key=f-1')).toHaveLength(3);
    expect(await parked('key=f-1&partner=acme')).toHaveLength(2);
    expect(await parked('state=held')).toMatchObject([{ key: 'f-1', partner: 'acme' }]);
    expect(await parked('', 'acme')).toHaveLength(4);
    expect(await parked('partner=umbra', 'acme')).toEqual([]);
    const seen: string[] = [];
    for (let next: string | undefined = '/v1/parked?limit=2'; next;) {
      const page = await ask(triage, 'viewer', `GET ${next}`);
      seen.push(...(page.json['items'] as Row[]).map(({ id }) => id));
      next = /^<(.+)>; rel="next"$/.exec(String(page.headers['link']))?.[1];
    }
    expect(seen).toEqual((await parked()).map(({ id }) => id));
  });

  it('are tried at once when somebody says so, each key in its order', async () => {
    await tooEarly('r-1');
    await triage.deliver(answer('r-1', {}, { id: 'behind' }));
    const [first, second] = await parked('key=r-1');
    early.clear();
    await triage.drain();
    expect(triage.applied).toEqual([]);
    const held = await ask(triage, 'support', `POST /v1/parked/${second?.id}/retry`, {});
    expect(held).toMatchObject({ status: 409, json: { code: 'parked-not-waiting' } });
    expect(held.json['detail']).toContain(`behind message ${first?.id}`);
    const due = await ask(triage, 'support', `POST /v1/parked/${first?.id}/retry`, { reason: 'the order is here' });
    expect(due).toMatchObject({ status: 202, json: { id: first?.id, state: 'waiting' } });
    expect(Date.parse(String(due.json['nextAttemptAt']))).toBeLessThanOrEqual(Date.now());
    await triage.drain();
    expect(triage.applied).toHaveLength(2);
    expect(triage.applied[1]).toBe('r-1/behind');
    expect(await ask(triage, 'support', `POST /v1/parked/${first?.id}/retry`, {})).toMatchObject({ status: 409 });
    expect(await auditOf(triage, `parked/${first?.id}`)).toMatchObject([
      { action: 'parked.retry', reason: 'the order is here', partner: 'acme', caller: triage.keys.support.id },
    ]);
  });

  it('are retried in a lot, after a plan that says how many and changes nothing', async () => {
    for (const n of [1, 2, 3]) await tooEarly(`lot-${n}`);
    await tooEarly('lot-4', 'umbra');
    const before = await parked();
    expect(await retryAll({ partner: 'acme' }, true)).toMatchObject({ status: 200, json: { count: 3, more: false } });
    expect(await parked()).toEqual(before);
    const [{ fingerprint } = { fingerprint: '' }] = await triage.database.query<{ fingerprint: string }>(
      'SELECT fingerprint FROM parked_inbound LIMIT 1',
    );
    expect(await retryAll({ fingerprint }, true)).toMatchObject({ json: { count: 4 } });
    expect(await retryAll({ key: 'lot-1' })).toMatchObject({ status: 202, json: { count: 1, more: false } });
    expect(await retryAll({ partner: 'acme', reason: 'all here' })).toMatchObject({ json: { count: 3 } });
    early.clear();
    await triage.drain();
    expect(triage.applied).toHaveLength(3);
    expect(await parked()).toMatchObject([{ partner: 'umbra' }]);
    expect(await auditOf(triage, 'parked')).toMatchObject([
      { detail: { count: 1, key: 'lot-1' } },
      { detail: { count: 3 }, partner: 'acme', reason: 'all here' },
    ]);
  });

  it('are retried at most a thousand at a time, and it is said that there are more', async () => {
    await triage.database.transaction((tx) =>
      tx.query(
        `INSERT INTO parked_inbound (partner, key, state, channel_id, inbox_id, topic, partition, "offset", record_time, header_names, header_values, parked_at, next_attempt_at)
         SELECT 'acme', 'k-' || n, 'waiting', 1, 'many-' || n, 't', 0, n, now(), '{}', '{}', now(), '2031-01-01' FROM generate_series(1, 1001) n`,
      ),
    );
    expect(await retryAll({}, true)).toMatchObject({ json: { count: 1000, more: true } });
    expect(await retryAll({})).toMatchObject({ json: { count: 1000, more: true } });
    const rows = await triage.database.query(`SELECT 1 FROM parked_inbound WHERE next_attempt_at < '2031-01-01'`);
    expect(rows).toHaveLength(1000);
  });

  it('of other partners are left alone by who is confined to one', async () => {
    await tooEarly('s-1', 'umbra');
    const [foreign] = await parked();
    expect(await ask(triage, 'acme', `POST /v1/parked/${foreign?.id}/retry`, {})).toMatchObject({ status: 404 });
    expect(await ask(triage, 'acme', 'POST /v1/parked/retry', {})).toMatchObject({ json: { count: 0 } });
    expect(await parked()).toEqual([foreign]);
    expect(await ask(triage, 'viewer', 'POST /v1/parked/retry', {})).toMatchObject({ status: 403 });
  });
});
