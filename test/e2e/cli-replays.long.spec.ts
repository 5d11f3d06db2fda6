import { eventually } from '../support/eventually';
import { FailingOrders } from '../support/failing-orders';

interface Replay {
  id: string;
  state: string;
  outcomes: { planned: number; processed: number; failedAgain: number; skipped: number };
  failed?: { id: string }[];
}

describe('replays on the command line', () => {
  let orders: FailingOrders;
  beforeAll(async () => {
    orders = await FailingOrders.start();
  }, 240_000);
  afterAll(() => orders.end());

  const replay = (ids: readonly string[], ...more: string[]) => [
    ...['dead-letters', 'replay', ...ids, '--reason', 'tried', ...more],
  ];
  const idsOf = async (count: number) => (await orders.dead(count)).map(({ id }) => id);
  /** Mends the message by REST. */
  const mend = async (id: string, orderNumber: string) => {
    const path = `/v1/dead-letters/${id}`;
    const etag = (await orders.parley.request(path)).headers.get('etag') ?? '';
    const document = { orderNumber, responseCode: 'AP', issuedAt: '2026-03-01T10:00:00Z' };
    const answer = await orders.parley.request(`${path}/edits`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'if-match': etag },
      body: JSON.stringify({ document, reason: 'mended' }),
    });
    expect(answer.status).toBe(201);
  };

  it('end with 3 when some failed again, and name those', async () => {
    const [good, bad] = await orders.dead(2);
    await mend(good?.id ?? '', good?.order.orderNumber ?? '');
    const ended = await orders.json<Replay>(replay([good?.id ?? '', bad?.id ?? ''], '--yes'), 3);
    expect(ended).toMatchObject({
      state: 'done',
      outcomes: { processed: 1, failedAgain: 1 },
      failed: [{ id: bad?.id }],
    });
    const shown = await orders.run(['replays', 'show', ended.id, '--items', 'failed-again']);
    expect(shown.stdout).toMatch(new RegExp(`^${bad?.id} .*failed-again +invalid: `, 'm'));
    expect((await orders.run(['replays', 'list'])).stdout).toMatch(
      new RegExp(`^${ended.id} +done .* operator +1 processed, 1 failed again +tried$`, 'm'),
    );
  }, 240_000);

  it('start exactly what was planned, once; a plan that is no longer what it says ends with 4', async () => {
    const ids = await idsOf(2);
    const planned = await orders.json<Replay>(['dead-letters', 'replay', ...ids, '--plan']);
    expect(planned).toMatchObject({ state: 'planned', plan: { count: 2 } });
    const etag = (await orders.parley.request(`/v1/dead-letters/${ids[0]}`)).headers.get('etag') ?? '';
    const gone = await orders.parley.request(`/v1/dead-letters/${ids[0]}/discard`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'if-match': etag },
      body: JSON.stringify({ reason: 'sent twice' }),
    });
    expect(gone.status).toBe(200);
    const refused = await orders.run(['replays', 'start', planned.id, '--reason', 'x', '--json']);
    expect(refused).toMatchObject({ code: 4, stdout: '' });
    expect(refused.output).toMatch(/1 of the plan's 2 messages.*\nNothing was sent\. Plan again: parley dead-letters/);

    const again = await orders.json<Replay>(replay([ids[1] ?? ''], '--plan'));
    const start = ['replays', 'start', again.id, '--reason', 'x'];
    expect(await orders.json<Replay>([...start, '--detach'])).toMatchObject({ id: again.id });
    expect(await orders.json<Replay>(start, 3)).toMatchObject({ id: again.id, outcomes: { failedAgain: 1 } });
  }, 240_000);

  it('of several messages are not started by support, which ends with 5', async () => {
    const ids = await idsOf(2);
    const { code, output } = await orders.run(replay(ids, '--yes'), 'support');
    expect([code, output]).toEqual([5, expect.stringContaining('takes the role operator')]);
  }, 240_000);

  it('go on when the command is interrupted, which ends with 130 and says how to watch, pause and cancel them', async () => {
    const slow = orders.begin(replay(await idsOf(60), '--pace', '1', '--yes', '--json'));
    await eventually(() => /\/60 /.test(slow.output), { what: 'it shows progress' });
    expect(await slow.end('SIGINT')).toBe(130);
    expect(slow.stdout).toBe('');
    const [, id = ''] = /parley replays watch (\S+)/.exec(slow.output) ?? [];
    const change = (verb: string) => orders.json<Replay>(['replays', verb, id, '--reason', 'lunch']);
    expect(await change('pause')).toMatchObject({ state: 'paused' });
    expect(await change('resume')).toMatchObject({ state: 'running' });
    expect(await change('cancel')).toMatchObject({ state: 'cancelled' });
    const watched = await orders.json<Replay>(['replays', 'watch', id], 3);
    expect([watched.state, watched.outcomes.skipped > 0, watched.outcomes.planned]).toEqual(['cancelled', true, 0]);
    const again = await orders.run(['replays', 'resume', id, '--reason', 'back']);
    expect([again.code, again.output]).toEqual([1, expect.stringContaining("it can't be resumed")]);
  }, 240_000);

  it('of nothing that fits are done at once; of nothing that was named they fail', async () => {
    expect(await orders.run(replay([], '--code', 'none-such', '--yes'))).toMatchObject({
      code: 0,
      stdout: 'Nothing to replay.\n',
    });
    expect((await orders.run(replay(['999999'], '--yes'))).code).toBe(1);
  });
});
