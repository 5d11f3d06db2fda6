import type { Outcome } from '../../../../src/messaging/consumer';
import { ReplayRunner } from '../../../../src/messaging/triage/replays/replay-runner';
import { eventually } from '../../../support/eventually';
import { hold } from '../../../support/faults';
import { countLockWaiters } from '../../../support/lock-waiters';
import { databaseUrl } from '../../orders/orders-app';
import {
  answer,
  ask,
  auditOf,
  ifMatch,
  itemsOf,
  lettersOf,
  type Row,
  startTriage,
  type TriageApp,
} from '../triage-app';

const DEAD: Outcome = { kind: 'dead', code: 'stock-unknown', detail: 'The warehouse knows no such article.' };

describe('replaying', () => {
  let triage: TriageApp;

  beforeAll(async () => {
    triage = await startTriage();
  });
  beforeEach(() => {
    triage.decide = () => undefined;
    triage.applied.length = 0;
  });
  afterAll(() => triage.close());

  /** One look of the runner at all replays that run. */
  const release = () => triage.app.get(ReplayRunner).pass();
  const plan = (body: unknown, who: keyof TriageApp['keys'] = 'operator') =>
    ask(triage, who, 'POST /v1/replays?plan=true', body);
  const start = (planId: unknown, who: keyof TriageApp['keys'] = 'operator') =>
    ask(triage, who, 'POST /v1/replays', { planId, reason: 'the warehouse is mended' });
  const show = async (id: unknown) => (await ask(triage, 'viewer', `GET /v1/replays/${String(id)}`)).json;
  const items = (id: unknown) => itemsOf(triage, `/v1/replays/${String(id)}/items`);

  /** Answers to these orders, all of which die; returns the ids of the dead letters. */
  async function dead(...orders: string[]): Promise<string[]> {
    triage.decide = () => DEAD;
    await triage.deliver(...orders.map((order) => answer(order)));
    triage.decide = () => undefined;
    const found = await Promise.all(orders.map((order) => lettersOf(triage, order)));
    return found.map(([letter]) => String(letter?.id));
  }

  it('goes from a plan to a job to what became of every message', async () => {
    const ids = await dead('R-1', 'R-2', 'R-3');
    await triage.deliver(answer('R-2', {}, { id: 'later-1' }), answer('R-2', {}, { id: 'later-2' }));
    const planned = await plan({ selection: { ids }, pacePerSecond: 2 }, 'support');
    expect(planned.status).toBe(201);
    const { id } = planned.json;
    expect(planned.headers['location']).toBe(`/v1/replays/${String(id)}`);
    expect(planned.json).toMatchObject({
      state: 'planned',
      summary: '3 to go',
      selection: { ids: 3 },
      plan: {
        count: 3,
        byPartner: [{ partner: 'acme', count: 3 }],
        durationSeconds: 2,
        heldBehind: { keys: 1, messages: 2, samples: [{ partner: 'acme', key: 'R-2', messages: 2 }] },
      },
    });
    expect(triage.applied).toEqual([]);
    const started = await ask(triage, 'operator', 'POST /v1/replays', {
      planId: id,
      pacePerSecond: 10_000,
      reason: 'the warehouse is mended',
    });
    expect([started.status, started.headers['location']]).toEqual([202, `/v1/replays/${String(id)}`]);
    const again = await start(id);
    expect([again.status, again.headers['location']]).toEqual([202, `/v1/replays/${String(id)}`]);

    await eventually(async () => (await release()) >= 0 && (await show(id))['summary'] === '3 waiting');
    expect(await show(id)).toMatchObject({ state: 'running', outcomes: { planned: 0, waiting: 3, processed: 0 } });
    await triage.drain();
    await release();
    expect(await show(id)).toMatchObject({
      state: 'done',
      summary: '3 processed',
      reason: 'the warehouse is mended',
      outcomes: { planned: 0, waiting: 0, processed: 3, failedAgain: 0, skipped: 0 },
      endedAt: expect.any(String) as unknown,
    });
    const ofKey = triage.applied.filter((applied) => applied.startsWith('R-2/'));
    expect(ofKey.slice(1)).toEqual(['R-2/later-1', 'R-2/later-2']);
    expect(triage.applied).toHaveLength(5);
    expect((await auditOf(triage, `replay/${String(id)}`)).map(({ action, reason }) => [action, reason])).toEqual([
      ['replay.plan', null],
      ['replay.start', 'the warehouse is mended'],
    ]);
  });

  it('says of each message that it failed again, is tried again, or was processed', async () => {
    const ids = await dead('S-1', 'S-2', 'S-3');
    // Where the machine is slow its next attempt is due while the drain is still at it.
    let attempts = 0;
    triage.decide = ({ value }) => {
      if (value.orderNumber === 'S-1') return DEAD;
      if (value.orderNumber === 'S-3') return undefined;
      attempts++;
      return { kind: 'retry', code: 'too-early', detail: 'Not yet.' };
    };
    const { id } = (await plan({ selection: { ids } })).json;
    await start(id);
    await release();
    await triage.drain();
    await release();
    const seen = (await items(id)).map(({ id: message, outcome, code }) => [message, outcome, code]);
    expect(seen).toEqual([
      [ids[0], 'failed-again', 'stock-unknown'],
      [ids[1], 'waiting', 'too-early'],
      [ids[2], 'processed', null],
    ]);
    expect(await show(id)).toMatchObject({ state: 'running', summary: '1 processed, 1 failed again, 1 waiting' });
    const [waiting] = await itemsOf(triage, `/v1/replays/${String(id)}/items?outcome=waiting`);
    expect(waiting).toMatchObject({ attempts, nextAttemptAt: expect.any(String) as unknown, detail: 'Not yet.' });

    triage.decide = () => undefined;
    const retried = await ask(triage, 'support', `POST /v1/parked/${ids[1]}/retry`, { reason: 'now it is time' });
    expect(retried.status).toBe(202);
    await triage.drain();
    await release();
    expect(await show(id)).toMatchObject({ state: 'done', summary: '2 processed, 1 failed again' });
    expect((await lettersOf(triage, 'S-1'))[0]).toMatchObject({ state: 'dead', code: 'stock-unknown' });
  });

  it('keeps the order of a key whose messages died one after the other', async () => {
    const [first] = await dead('K-1');
    await triage.deliver(answer('K-1', {}, { id: 'k-held' }));
    const { id } = (await plan({ selection: { order: 'K-1' } })).json;
    await start(id);
    await release();
    await triage.deliver(answer('K-1', {}, { id: 'k-new' }));
    await triage.drain();
    expect((await items(id)).map((item) => item.id)).toEqual([first]);
    expect(triage.applied.map((applied) => applied.split('/')[1])).toEqual([expect.any(String), 'k-held', 'k-new']);
  });

  /** Two dead letters of one order, of which the second is `second`: the first was given up for a while. */
  async function twoDead(order: string, second: string): Promise<string[]> {
    const [first] = await dead(order);
    await triage.deliver(answer(order, {}, { id: second }));
    const [letter] = await lettersOf(triage, order);
    expect((await change('discard', letter)).status).toBe(200);
    triage.decide = () => DEAD;
    await triage.drain();
    const [later, discarded] = await lettersOf(triage, order);
    expect((await change('restore', discarded)).status).toBe(200);
    triage.decide = () => undefined;
    return [String(first), String(later?.id)];
  }
  const change = (verb: string, row: Row | undefined) =>
    ask(triage, 'operator', `POST /v1/dead-letters/${row?.id}/${verb}`, { reason: 'r' }, ifMatch(row as Row));

  it('replays two dead letters of a key in their order, and neither past the other', async () => {
    const [, second] = await twoDead('K-2', 'k2-second');
    const alone = (await plan({ selection: { ids: [second] } })).json;
    expect(alone['plan']).toMatchObject({ count: 0, skipped: [{ code: 'behind', count: 1, samples: [second] }] });
    const refused = await ask(triage, 'support', `POST /v1/dead-letters/${second}/replay`, { reason: 'r' });
    expect(refused.json).toMatchObject({ status: 409, code: 'replay-behind' });

    const { id } = (await plan({ selection: { order: 'K-2' } })).json;
    await start(id);
    await release();
    await triage.drain();
    expect(triage.applied).toEqual([expect.stringMatching(/^K-2\/m-/), 'K-2/k2-second']);
    expect((await items(id)).map(({ outcome }) => outcome)).toEqual(['processed', 'processed']);
  });

  it('says of a message what holds it, and goes on when that is given up', async () => {
    const [first, second] = await twoDead('K-3', 'k3-second');
    const { id } = (await plan({ selection: { order: 'K-3' } })).json;
    await start(id);
    triage.decide = ({ id: message }) => (message === 'k3-second' ? undefined : DEAD);
    await release();
    await triage.drain();
    await release();
    expect(await show(id)).toMatchObject({ state: 'running', summary: '1 failed again, 1 waiting' });
    expect(await items(id)).toMatchObject([
      { outcome: 'failed-again', code: 'stock-unknown' },
      {
        id: second,
        outcome: 'waiting',
        code: 'held-behind',
        detail: `It waits behind message ${first} of its key, which is a dead letter (stock-unknown).`,
      },
    ]);
    await change('discard', (await lettersOf(triage, 'K-3')).at(-1));
    await triage.drain();
    await release();
    expect(await show(id)).toMatchObject({ state: 'done', summary: '1 processed, 1 failed again' });
    expect((await items(id)).at(-1)).toMatchObject({ outcome: 'processed', code: null });
  });

  it('replays one message once, also for two who ask at the same moment', async () => {
    const [letter] = await dead('O-1');
    const replay = () => ask(triage, 'support', `POST /v1/dead-letters/${letter}/replay`, { reason: 'stock is there' });
    const free = await hold(databaseUrl(triage.database), 'SELECT 1 FROM parked_inbound WHERE id = $1 FOR UPDATE', [
      letter,
    ]);
    const both = [replay(), replay()];
    await eventually(async () => (await countLockWaiters(triage.database)) === 2);
    await free();
    const answers = await Promise.all(both);
    expect(answers.map(({ status }) => status)).toEqual([202, 202]);
    expect(answers[0]?.headers['location']).toBe(answers[1]?.headers['location']);
    await triage.drain();
    await release();
    expect(triage.applied).toHaveLength(1);
    const [row] = (await ask(triage, 'viewer', 'GET /v1/replays?limit=1')).json['items'] as Record<string, unknown>[];
    expect(row).toMatchObject({ state: 'done', summary: '1 processed', startedBy: { id: triage.keys.support.id } });
    expect((await replay()).json).toMatchObject({ status: 409, code: 'parked-not-dead' });
  });

  it('refuses what is no plan and no start, and says where', async () => {
    const one = await dead('B-1');
    const pointer = async (query: string, body: unknown) => {
      const { status, json } = await ask(triage, 'operator', `POST /v1/replays${query}`, body);
      return [status, (json['errors'] as { pointer: string }[])[0]?.pointer];
    };
    const planId = '0d9d5c0e-6f0b-4f6e-9a53-0a4f6a3f7c11';
    expect(await pointer('?plan=true', {})).toEqual([400, '/selection']);
    expect(await pointer('?plan=true', { selection: {}, planId })).toEqual([400, '/planId']);
    expect(await pointer('?plan=true', { selection: { ids: one, partner: 'acme' } })).toEqual([
      400,
      '/selection/partner',
    ]);
    expect(await pointer('?plan=true', { selection: { ids: ['x'] } })).toEqual([400, '/selection/ids']);
    expect(await pointer('?plan=true', { selection: { since: 'yesterday' } })).toEqual([400, '/selection/since']);
    expect(await pointer('?plan=yes', {})).toEqual([400, 'plan']);
    expect(await pointer('', { planId })).toEqual([400, '/reason']);
    expect(await pointer('', { reason: 'r' })).toEqual([400, '/planId']);
    expect(await pointer('', { planId, reason: 'r', pacePerSecond: 0 })).toEqual([400, '/pacePerSecond']);
    expect((await start(planId)).json).toMatchObject({ status: 404, code: 'replay-unknown' });
    expect((await ask(triage, 'viewer', 'GET /v1/replays/nonsense')).status).toBe(404);
    expect((await ask(triage, 'viewer', 'GET /v1/replays?cursor=nonsense')).json).toMatchObject({
      code: 'cursor-invalid',
    });
    const ids = Array.from({ length: 10_000 }, (_, n) => String(n + 1_000_000));
    expect((await plan({ selection: { ids } })).json).toMatchObject({ plan: { count: 0, unknownIds: 10_000 } });
    expect((await plan({ selection: { ids: [...ids, '1'] } })).status).toBe(400);
  });

  it('lets support plan, an operator start what is more than one, and shows a confined key its own', async () => {
    const ids = await dead('P-1', 'P-2');
    expect((await plan({ selection: { ids } }, 'viewer')).status).toBe(403);
    const { id } = (await plan({ selection: { ids } }, 'support')).json;
    expect((await start(id, 'support')).json).toMatchObject({ status: 403, code: 'forbidden' });
    expect((await start(id, 'acme')).status).toBe(202);
    expect((await ask(triage, 'support', `POST /v1/replays/${String(id)}/cancel`, { reason: 'r' })).status).toBe(403);
    triage.decide = () => DEAD;
    await triage.deliver(answer('U-1', {}, { partner: 'umbra' }));
    const [foreign] = await lettersOf(triage, 'U-1');
    const other = (await plan({ selection: { ids: [String(foreign?.id)] } })).json;
    expect((await ask(triage, 'acme', `GET /v1/replays/${String(other['id'])}`)).status).toBe(404);
    const own = await itemsOf(triage, '/v1/replays', 'acme');
    expect(own.map((row) => row.id)).toContain(id);
    expect(own.map((row) => row.id)).not.toContain(other['id']);
    const { plan: none } = (await plan({ selection: { order: 'U-1' } }, 'acme')).json;
    expect(none).toMatchObject({ count: 0, byPartner: [], skipped: [] });
  });

  it('pauses, resumes and cancels by its own verbs, and lists in pages', async () => {
    const ids = await dead('V-1', 'V-2', 'V-3');
    const { id } = (await plan({ selection: { ids } })).json;
    await start(id);
    const change = async (verb: string) => {
      const { status, json } = await ask(triage, 'operator', `POST /v1/replays/${String(id)}/${verb}`, {
        reason: 'look',
      });
      return [status, json['state'] ?? json['code']];
    };
    expect(await change('resume')).toEqual([200, 'running']);
    expect(await change('pause')).toEqual([200, 'paused']);
    expect(await change('cancel')).toEqual([200, 'cancelled']);
    expect(await change('pause')).toEqual([409, 'replay-state']);
    expect(await show(id)).toMatchObject({ summary: '3 skipped', etaSeconds: null });
    const page = await ask(triage, 'viewer', `GET /v1/replays/${String(id)}/items?limit=2`);
    expect(page.headers['link']).toContain('rel="next"');
    const next = await ask(triage, 'viewer', `GET ${/<([^>]+)>/.exec(String(page.headers['link']))?.[1] ?? ''}`);
    const seen = [...(page.json['items'] as { id: string }[]), ...(next.json['items'] as { id: string }[])];
    expect(seen.map((item) => item.id)).toEqual(ids);
    expect(next.json['nextCursor']).toBeNull();
  });
});
