import { topicFor, orderRequest, orderResponse } from '../../src/contracts';
import { eventually } from '../support/eventually';
import { FailingOrders } from '../support/failing-orders';
import { uniqueName } from '../support/kafka';
import { Program } from '../support/parley-process';
import { setOnTopic } from '../support/topic-faults';

describe('what waits, what is not sent, and where an order stands, on the command line', () => {
  let orders: FailingOrders;
  beforeAll(async () => {
    orders = await FailingOrders.start();
  }, 240_000);
  afterAll(() => orders?.end());

  it('parked messages are listed with what they wait for, and tried now: named ones, or those that fit, by plan', async () => {
    const order = await orders.place();
    await orders.despatch(order, 'D-1');
    await orders.despatch(order, 'D-2');
    const list = ['parked', 'list', '--order', order.orderNumber];
    const [first, second] = await eventually(
      async () => {
        const found = await orders.json<{ id: string; state: string; attempts: number }[]>(list);
        return found.length === 2 && found;
      },
      { what: 'both wait' },
    );
    const { stdout } = await orders.run(list);
    expect(stdout).toMatch(/^ID {2}.*WHY\n.* waiting .*despatch-advice\.v1 .*\(too-early\)/);
    expect(stdout).toContain(`It waits behind message ${first?.id} of its key`);

    const one = await orders.run(['parked', 'retry', first?.id ?? '', '--json'], 'support');
    expect([one.code, JSON.parse(one.stdout)]).toEqual([
      0,
      [expect.objectContaining({ id: first?.id, result: 'done' })],
    ]);
    const both = ['parked', 'retry', first?.id ?? '', second?.id ?? '', '--json'];
    expect(await orders.run(both)).toMatchObject({ code: 2, stdout: '' });
    expect(await orders.json(both.slice(0, -1).concat('--yes'), 3)).toMatchObject([
      { result: 'done' },
      { result: 'failed', code: 'parked-not-waiting' },
    ]);
    const fitting = ['parked', 'retry', '--order', order.orderNumber];
    const asked = await orders.run(fitting);
    expect([asked.code, asked.output]).toEqual([2, expect.stringContaining('1 message would be tried now')]);
    expect((await orders.run([...fitting, '--yes'], 'viewer')).code).toBe(5);
    expect((await orders.run([...fitting, '--yes'])).stdout).toBe('1 message tried now\n');
    expect((await orders.run(['parked', 'retry'])).code).toBe(2);
  }, 240_000);

  it('the outbox says what is refused and what stands behind it; it is sent again, or given up', async () => {
    const partner = uniqueName('umbra');
    await orders.addPartner(partner);
    await orders.place(partner);
    const status = () => orders.json<{ dead: number; pending: number; owner: object }>(['outbox', 'status']);
    await eventually(async () => (await status()).pending === 0, { what: 'the first is sent' });
    const heal = await setOnTopic(topicFor(orderRequest, partner), 'max.message.bytes', '200');
    try {
      for (const item of ['X1', 'X2']) await orders.place(partner, item);
      await eventually(async () => (await status()).dead > 0, {
        interval: 500,
        what: 'one is refused',
      });
    } finally {
      await heal();
    }
    expect((await orders.run(['outbox', 'status'])).stdout).toMatch(
      /^sending .*lease until .*\n(.*\n)*refused +[12] message/,
    );
    const stuck = await orders.json<{ seq: string; state: string; code: string }[]>(['outbox', 'list', '--stuck']);
    const [dead, other] = stuck;
    expect(dead).toMatchObject({ state: 'dead', code: 'message-too-large' });
    const { code, output } = await orders.run(['outbox', 'list', '--stuck']);
    expect([code, output]).toEqual([0, expect.stringContaining(`Next: parley outbox retry ${dead?.seq}`)]);
    const discard = ['outbox', 'discard', dead?.seq ?? '', '--reason', 'sent by mail'];
    expect((await orders.run(discard)).code).toBe(2);
    expect((await orders.run([...discard, '--yes'], 'support')).code).toBe(5);
    expect(await orders.json([...discard, '--yes'])).toMatchObject({ seq: dead?.seq, state: 'discarded' });
    if (other)
      expect((await orders.run(['outbox', 'retry', other.seq])).stdout).toContain(`${other.seq} is sent again`);
    await eventually(async () => (await status()).dead === 0, { interval: 500, what: 'none is left' });
    const lane = await orders.run(['outbox', 'retry', `${topicFor(orderRequest, partner)}/0`]);
    expect([lane.code, lane.output]).toEqual([1, expect.stringContaining('The lane is not parked.')]);
    expect((await orders.run(['outbox', 'retry', 'all of them'])).code).toBe(2);
  }, 240_000);

  it('what waits for a paused partner names its resumption, since nothing else has it sent', async () => {
    const partner = uniqueName('hooli');
    await orders.addPartner(partner);
    const paused = await orders.run(['partner', 'pause', partner, '--reason', 'its maintenance']);
    expect(paused).toMatchObject({ code: 0, stdout: expect.stringContaining(`${partner}: paused since`) as string });
    let orderNumber = '';
    const waiting = await eventually(
      async () => {
        // The relay looks every second or so who is paused, and what comes before that is sent.
        ({ orderNumber } = await orders.place(partner));
        const seen = await orders.run(['outbox', 'status']);
        return seen.stdout.includes(topicFor(orderRequest, partner)) && seen;
      },
      { interval: 500, what: 'its lane is parked' },
    );
    expect(waiting.output).toContain('parley partner resume <id>');
    expect(waiting.output).not.toContain(`parley outbox retry ${topicFor(orderRequest, partner)}`);
    const lane = await orders.run(['outbox', 'retry', `${topicFor(orderRequest, partner)}/0`]);
    expect([lane.code, lane.output]).toEqual([1, expect.stringContaining('The partner is paused.')]);
    expect((await orders.run(['partner', 'resume', partner])).code).toBe(0);
    await eventually(
      async () => (await orders.run(['orders', 'show', orderNumber])).stdout.includes('The order is in Kafka.'),
      { interval: 500, what: 'it is sent' },
    );
  }, 240_000);

  it('a channel is paused for a reason that others see, and read again', async () => {
    const topic = topicFor(orderResponse, orders.partner);
    const pause = ['channels', 'pause', topic, '--reason', 'acme sends garbage'];
    expect((await orders.run(pause, 'support')).code).toBe(5);
    expect(await orders.json(pause)).toMatchObject({ topic, paused: { code: 'staff', reason: 'acme sends garbage' } });
    expect((await orders.run(['channels', 'list'])).stdout).toMatch(
      new RegExp(`^${topic.replaceAll('.', '\\.')} .* paused since .*: acme sends garbage$`, 'm'),
    );
    expect((await orders.run(pause)).code).toBe(1);
    const resumed = await orders.run(['channels', 'resume', topic, '--reason', 'mended']);
    expect(resumed).toMatchObject({ code: 0, stdout: `${topic}: read\n` });
  }, 240_000);

  it('an order is told step by step, and its answer is no longer waited for', async () => {
    const { orderNumber, correlationId } = await orders.place();
    const shown = await orders.run(['orders', 'show', orderNumber], 'viewer');
    expect(shown.stdout).toMatch(new RegExp(`^order +${orderNumber}\npartner +${orders.partner}\nstate +placed\n`));
    expect(shown.stdout).toMatch(/^to come +Waiting for .* answer, due in /m);
    expect(shown.output).toContain(`parley orders withdraw ${orderNumber} ${correlationId}`);
    const withdraw = ['orders', 'withdraw', orderNumber, correlationId];
    expect((await orders.run(withdraw)).code).toBe(2);
    expect(await orders.json([...withdraw, '--reason', 'settled by telephone'])).toMatchObject({ state: 'withdrawn' });
    expect(await orders.json(['orders', 'show', orderNumber])).toMatchObject({
      order: { orderNumber },
      exchanges: [{ state: 'withdrawn', endReason: 'settled by telephone' }],
    });
    const unknown = await orders.run(['orders', 'show', 'none']);
    expect([unknown.code, unknown.output]).toEqual([1, expect.stringContaining('There is no such order.')]);
  }, 240_000);

  it('orders are listed, the latest first, and found by partner, state, time and what is overdue', async () => {
    const partner = uniqueName('initech');
    await orders.addPartner(partner);
    const list = ['orders', 'list', '--partner', partner];
    const none = await orders.run(list, 'viewer');
    expect(none).toMatchObject({ code: 0, output: expect.stringContaining('No orders fit.') as string });
    const first = await orders.place(partner);
    const second = await orders.place(partner);
    const found = async (...more: string[]) =>
      (await orders.json<{ orderNumber: string }[]>([...list, ...more])).map(({ orderNumber }) => orderNumber);
    expect(await found()).toEqual([second.orderNumber, first.orderNumber]);
    const shown = await orders.run(list, 'viewer');
    expect(shown.stdout).toMatch(
      new RegExp(`^ORDER .*\n${second.orderNumber} +${partner} +placed .*\n${first.orderNumber} `),
    );
    expect(shown.output).toContain(`Next: parley orders show ${second.orderNumber}`);
    const limited = await orders.run([...list, '--limit', '1']);
    expect(limited.stdout).not.toContain(first.orderNumber);
    expect(limited.output).toContain('There are more');
    expect(await found('--state', 'placed', '--since', '1h')).toHaveLength(2);
    expect(await found('--state', 'accepted')).toEqual([]);
    expect(await found('--since', '2999-01-01T00:00:00Z')).toEqual([]);
    expect(await found('--overdue')).toEqual([]);
    // Looked at now: what lies far behind what has been judged is not looked at again.
    await orders.write(
      `UPDATE exchange SET deadline = now() - interval '1 minute', look_at = now(), resends = 2 WHERE correlation_id = $1`,
      [first.correlationId],
    );
    await eventually(async () => (await found('--overdue'))[0] === first.orderNumber, {
      timeout: 90_000,
      what: 'it is overdue',
    });
    const unknown = await orders.run([...list, '--state', 'nonsense']);
    expect([unknown.code, unknown.output]).toEqual([1, expect.stringMatching(/state must be one of .*placed/)]);
  }, 240_000);

  it('without a key every command ends with 5 and says how to get one', async () => {
    const without = Program.run('cli/main.js', ['outbox', 'status'], { PARLEY_URL: orders.parley.apiUrl });
    expect([await without.finished(), without.output]).toEqual([5, expect.stringContaining('parley key create')]);
  });
});
