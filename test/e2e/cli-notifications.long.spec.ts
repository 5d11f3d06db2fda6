import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SMTPServer } from 'smtp-server';
import type { NotificationDto, NotificationViewDto } from '../../src/notifications';
import { eventually } from '../support/eventually';
import { FailingOrders, type PlacedOrder } from '../support/failing-orders';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy';

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

/** A mail server that keeps what it took. */
function mailServer(): { server: SMTPServer; mails: string[]; listening: Promise<number> } {
  const mails: string[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData: (stream, _session, done) => {
      const parts: Buffer[] = [];
      stream.on('data', (part: Buffer) => parts.push(part));
      stream.on('end', () => {
        mails.push(Buffer.concat(parts).toString());
        done();
      });
    },
  });
  const listening = new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.server.address() as { port: number }).port));
  });
  return { server, mails, listening };
}

describe('notifications on the command line', () => {
  const { server, mails, listening } = mailServer();
  const folder = mkdtempSync(join(tmpdir(), 'parley-cli-'));
  let wire: TcpProxy;
  let orders: FailingOrders;

  beforeAll(async () => {
    wire = await startTcpProxy({ port: await listening });
    orders = await FailingOrders.start({
      ...{ SMTP_HOST: '127.0.0.1', SMTP_PORT: String(wire.port), SMTP_TLS: 'none', EMAIL_FROM: 'orders@example.com' },
      // Configured, and never asked here.
      ...{ SMS_URL: 'http://127.0.0.1:1', SMS_TOKEN: 'none', SMS_FROM: 'Parley' },
      WEBHOOK_SECRET_KEYS: randomBytes(32).toString('base64'),
    });
  }, 240_000);
  afterAll(async () => {
    await orders.end();
    await wire.close();
    await new Promise<void>((resolve) => server.close(resolve));
    rmSync(folder, { recursive: true, force: true });
  });

  afterEach(() => wire.refuse(false));

  const parley = (...args: string[]) => orders.run(['notifications', ...args]);
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const list = (...filter: string[]) => orders.json<NotificationDto[]>(['notifications', 'list', ...filter]);
  const show = (id: string) => orders.json<NotificationViewDto>(['notifications', 'show', id]);

  /** A command whose output nobody reads: a pipe, since a socket tells only later that nobody is there. */
  function unread(command: string): { status: number | null; stderr: string } {
    const script = `exec 9> >(exec true); wait $!; exec "$0" dist/src/cli/main.js ${command} >&9`;
    const { status, stderr } = spawnSync('bash', ['-c', script, process.execPath], {
      env: {
        PATH: process.env['PATH'],
        PARLEY_URL: orders.parley.apiUrl,
        PARLEY_API_KEY: orders.keys.get('admin')?.token,
      },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return { status, stderr };
  }

  /** The order's notification, once this is so. */
  const told = ({ orderNumber }: PlacedOrder, fits: (one: NotificationDto) => boolean, what: string) =>
    eventually(async () => (await list('--order', orderNumber)).find(fits), { timeout: 60_000, interval: 100, what });

  async function accepted(): Promise<PlacedOrder> {
    const order = await orders.place();
    await orders.answer(order);
    return order;
  }

  it('go to receivers that are files: planned, set, shown, written again, removed', async () => {
    const example = ['receivers', 'set', 'ops-desk', '--file', 'docs/notifications/ops-desk.yaml'];
    const planned = await parley(...example, '--plan');
    expect(planned).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/receiver ops-desk: would be made\n$/) as string,
    });
    expect(planned.stdout).toContain('+ order-overdue over sms: about acme, umbra');
    expect((await parley('receivers', 'show', 'ops-desk')).code).toBe(1);

    const made = await parley(...example);
    expect(made.stdout).toMatch(/receiver ops-desk: made \(version 1\)\nwebhook secret whsec_\S+\n$/);
    expect(made.output).toContain('shown this once');
    expect((await parley('receivers', 'list')).stdout).toMatch(
      /^RECEIVER .*\nops-desk +Operations desk +email, sms, webhook +22:00 to 07:00, Europe\/Berlin +.*order-overdue/,
    );

    const yaml = (await parley('receivers', 'show', 'ops-desk', '--yaml')).stdout;
    const same = ['receivers', 'set', 'ops-desk', '--file', file('same.yaml', yaml)];
    expect((await parley(...same)).stdout).toBe('receiver ops-desk: nothing to do\n');
    const other = ['receivers', 'set', 'ops-desk', '--file', file('other.yaml', yaml.replace('Operations', 'Night'))];
    expect((await parley(...other)).stdout).toBe(
      '  ~ name: Operations desk → Night desk\nreceiver ops-desk: changed (version 2)\n',
    );
    const unmasked = await parley('receivers', 'show', 'ops-desk', '--unmask', '--reason', 'moved');
    expect(unmasked.stdout).toMatch(/^email +ops@example\.com$/m);
    expect((await parley('receivers', 'show', 'ops-desk')).stdout).not.toContain('example.com');

    expect(unread('notifications receivers rotate-secret ops-desk')).toEqual({
      status: 1,
      stderr: expect.stringMatching(
        /^parley: Nobody read the secret, and it is told once\.\n(.*\n)*.*rotate-secret ops-desk$/m,
      ) as string,
    });
    expect((await orders.run(['notifications', 'receivers', 'rotate-secret', 'ops-desk'], 'admin')).stdout).toMatch(
      /^webhook secret whsec_\S+\n$/,
    );
    expect(await parley('receivers', 'remove', 'ops-desk')).toMatchObject({ code: 2, stdout: '' });
    expect(await parley('receivers', 'remove', 'ops-desk', '--yes')).toMatchObject({
      ...{ code: 0, stdout: 'receiver ops-desk removed\n' },
    });
  }, 240_000);

  it('wait while the mail server is not reached, say why, and go out anew when it is mended', async () => {
    const desk =
      'name: Desk\nemail: desk@example.com\nsubscriptions:\n  - { kind: order-accepted, channels: [email] }\n';
    expect((await parley('receivers', 'set', 'desk', '--file', file('desk.yaml', desk))).code).toBe(0);
    wire.refuse(true);
    const order = await accepted();
    const { orderNumber } = order;
    const { id } = await told(
      order,
      ({ attempts, state }) => attempts > 0 && state === 'pending',
      'it was tried in vain',
    );
    // It stands so while the commands below look at it: its next attempt may be due, or begun, by then.
    const pending = `WHERE id = $1 AND state = 'pending'`;
    await eventually(
      () =>
        orders
          .write(`UPDATE notification SET next_attempt_at = now() + interval '1 h' ${pending} RETURNING id`, [id])
          .then(({ length }) => length > 0),
      { timeout: 60_000, interval: 50, what: 'it waits' },
    );

    const shown = await parley('show', id);
    expect(shown.stdout).toMatch(/^standing +(Tried|Waiting)/m);
    expect(shown.stdout).toMatch(/^because +smtp-unreachable: /m);
    expect(shown.stdout).toMatch(/^ {2}1 +send +\S+ \S+ +\S+ s +later +smtp-unreachable /m);
    expect(shown.stdout).toMatch(/^over +email, address •••$/m);
    expect(shown.output).toContain(`To give it up: parley notifications cancel ${id}`);
    expect(shown.output).toContain('How email does: parley notifications providers');
    expect((await parley('list', '--order', orderNumber)).stdout).toMatch(
      new RegExp(`^ID .*STANDING\\n${id} +pending +order-accepted +email +desk +${orders.partner}/${orderNumber} `),
    );
    const providers = (await parley('providers')).stdout;
    expect(providers).toMatch(/^PROVIDER .*STANDING\n/);
    expect(providers).toMatch(/^email +[1-9]\d* /m);

    const asked = await parley('cancel', '--order', orderNumber, '--reason', 'told by telephone');
    expect(asked).toMatchObject({ code: 2, stdout: '' });
    expect(asked.output).toContain(
      `1 notification would be cancelled\n  ${id} pending: order-accepted about ${orderNumber}`,
    );
    expect(
      await parley('cancel', '--order', orderNumber, '--reason', 'told by telephone', '--yes', '--json').then(
        ({ stdout }) => JSON.parse(stdout) as unknown,
      ),
    ).toMatchObject([{ id, result: 'done', notification: { state: 'cancelled' } }]);

    wire.refuse(false);
    const resend = [
      'resend',
      '--state',
      'cancelled',
      '--order',
      orderNumber,
      '--reason',
      'the mail server is mended',
      '--yes',
    ];
    const resent = await parley(...resend);
    expect(resent).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^ID +RESULT +SENT ANEW AS +WHY\n/) as string,
    });
    const [, anew = ''] = new RegExp(`^${id} +done +(${UUID.source})`, 'm').exec(resent.stdout) ?? [];
    await parley('providers', 'retry', 'email', '--reason', 'the mail server is mended');
    await eventually(async () => (await show(anew)).state === 'sent', {
      timeout: 60_000,
      interval: 200,
      what: 'it is sent',
    });
    expect(mails.filter((mail) => mail.includes(orderNumber))).toHaveLength(1);
    expect(await show(anew)).toMatchObject({ resendOf: id });
    expect(await show(id)).toMatchObject({ state: 'cancelled', resends: [anew] });

    const again = await parley(...resend);
    expect(again).toMatchObject({ code: 0, stdout: 'Nothing to resend.\n' });
    expect(again.output).toContain(`${id} is left alone: sent anew as ${anew}`);
  }, 240_000);

  it('of which nobody knows whether they went out are resolved by a person', async () => {
    // The mail server takes it all, and its answer never comes.
    wire.filter((data, direction) => {
      if (direction === 'request' || !/^250.*queued/i.test(data.toString())) return data;
      wire.cutAll();
      return null;
    });
    const order = await accepted();
    const { id } = await told(order, ({ state }) => state === 'unknown', 'nobody knows').finally(() =>
      wire.filter(undefined),
    );
    expect(mails.filter((mail) => mail.includes(order.orderNumber))).toHaveLength(1);
    expect((await parley('list', '--state', 'unknown')).output).toContain(
      `Nobody knows whether some of them went out. Next: parley notifications show ${id}\n`,
    );
    expect((await parley('show', id)).output).toContain(`parley notifications resolve ${id} --delivered --reason "…"`);

    const unmasked = await orders.run(['notifications', 'unmask', id, '--reason', 'asking them'], 'support');
    expect(unmasked.stdout).toMatch(/^over +email, address desk@example\.com$/m);
    expect(unmasked.stdout).toMatch(new RegExp(`^What is sent\\n.*${order.orderNumber}`, 'm'));
    expect(await orders.run(['notifications', 'unmask', id, '--reason', 'x'], 'viewer')).toMatchObject({
      code: 5,
      stdout: '',
    });

    const resolve = ['resolve', id, '--reason', 'it is in their inbox'];
    expect((await parley(...resolve)).code).toBe(2);
    expect((await parley(...resolve, '--delivered', '--not-delivered')).code).toBe(2);
    expect((await parley(...resolve, '--delivered')).stdout).toBe(`notification ${id} sent\n`);
    expect(await parley(...resolve, '--delivered')).toMatchObject({
      ...{ code: 1, stdout: '', output: expect.stringContaining('there is nothing to resolve') as string },
    });
  }, 240_000);

  it('stand in the timeline of their order', async () => {
    const order = await accepted();
    await told(order, ({ state }) => state === 'sent', 'it is sent');
    const { stdout } = await orders.run(['orders', 'show', order.orderNumber]);
    expect(stdout).toMatch(/^\S+ \S+ {2}E-mail to desk about the acceptance: sent\.$/m);
  }, 240_000);

  it('test each address of a receiver', async () => {
    const tested = await parley('receivers', 'test', 'desk');
    expect(tested.stdout).toMatch(new RegExp(`^email +${UUID.source}\\n$`));
    const [id = ''] = UUID.exec(tested.stdout) ?? [];
    await eventually(async () => (await show(id)).state === 'sent', {
      timeout: 60_000,
      interval: 200,
      what: 'it is sent',
    });
  }, 240_000);

  it('say which could not be, and end with 3', async () => {
    const order = await accepted();
    const { id } = await told(order, ({ state }) => state === 'sent', 'it is sent');
    const nobodys = '00000000-0000-5000-8000-000000000000';
    const both = ['notifications', 'resend', id, nobodys, '--reason', 'it was lost', '--yes'];
    expect(await orders.json(both, 3)).toMatchObject([
      { id, result: 'done', notification: { resendOf: id } },
      { id: nobodys, result: 'failed', code: 'notification-unknown' },
    ]);
    expect(await parley('cancel', id, '--reason', 'x')).toMatchObject({ code: 1, stdout: '' });
    expect(await orders.run(['notifications', 'resend', id, '--reason', 'x'], 'viewer')).toMatchObject({ code: 5 });
  }, 240_000);

  it.each([
    ['nothing that says which', ['resend', '--reason', 'x', '--yes']],
    ['ids and a filter', ['cancel', '00000000-0000-5000-8000-000000000000', '--state', 'pending']],
    ['an id that is none', ['show', '4711']],
    ['a state that is none', ['list', '--state', 'lost']],
    ['a look behind masks without a reason', ['unmask', '00000000-0000-5000-8000-000000000000']],
    ['a receiver without its file', ['receivers', 'set', 'desk']],
    ['a provider that is none', ['providers', 'retry', 'fax']],
    ['a time that is none', ['receivers', 'rotate-secret', 'desk', '--old-valid-for', '90m']],
  ])('end with 2 for %s', async (_, args) => {
    expect(await parley(...args)).toMatchObject({ code: 2, stdout: '' });
  });

  it('show what may be told without asking anybody', async () => {
    expect((await parley('kinds')).stdout).toMatch(
      /^order-accepted +email, webhook, sms .*look-up: the provider is asked/m,
    );
    expect((await parley('kinds', 'confirmation-code')).stdout).toMatch(/^secret +yes/m);
    expect((await parley('kinds', 'nonsense')).code).toBe(1);
  });
});
