import type { Letter, Provider } from '../../../src/notifications/channels/provider';
import { eventually } from '../../support/eventually';
import { ScriptedSmtp, type SmtpAct, type SmtpStage } from '../../support/scripted-smtp';
import { ADDRESS, inClear, mailing, openEmail } from './email-stage';
import { emailLetter } from './letters';
import { describeProvider } from './provider-suite';

describeProvider(
  'e-mail',
  {
    ...{ remembers: false, lookUp: false, retryAfter: false, refuses: true },
    badAddresses: ['', 'jane', '@example.com', 'a@b@example.com', 'a@example.com,b@example.com', 'a@example.com b'],
  },
  openEmail,
);

describe('what a mail server says', () => {
  let server: ScriptedSmtp;
  let provider: Provider;
  beforeEach(async () => {
    server = await ScriptedSmtp.start();
    provider = mailing(inClear(server.port));
  });
  afterEach(async () => {
    await provider.close();
    await server.stop();
  });
  const letter = (rest?: Partial<Letter>) => emailLetter({ address: ADDRESS, ...rest });
  const send = (one = letter()) => provider.send(one, AbortSignal.timeout(30_000));
  const PIPELINING: SmtpAct = { reply: '250-scripted.example\r\n250 PIPELINING' };

  const fault = (code: string) => ({ kind: 'later', code, fault: true });
  const deferred = { kind: 'later', code: 'smtp-deferred', fault: false };
  const refused = { kind: 'refused', code: 'smtp-refused' };
  const badAddress = { kind: 'refused', code: 'smtp-recipient-refused', badAddress: true };
  it.each<[SmtpStage, SmtpAct, object]>([
    ['connect', 'break', fault('smtp-unreachable')],
    ['connect', { reply: '554 not today' }, fault('smtp-unreachable')],
    ['connect', { reply: '421 too busy' }, fault('smtp-unreachable')],
    ['EHLO', 'break', fault('smtp-unreachable')],
    ['MAIL', 'break', fault('smtp-unreachable')],
    ['MAIL', { reply: '451 4.3.0 try later' }, deferred],
    ['MAIL', { reply: '530 5.7.0 Authentication required' }, fault('smtp-not-accepted')],
    ['MAIL', { reply: '553 5.7.1 Sender not owned by you' }, fault('smtp-sender-refused')],
    ['MAIL', { reply: '552 5.3.4 Too large' }, refused],
    ['RCPT', 'break', fault('smtp-unreachable')],
    ['RCPT', { reply: '450 4.2.1 The mailbox is busy' }, deferred],
    ['RCPT', { reply: '421 4.3.2 Shutting down' }, fault('smtp-unavailable')],
    ['RCPT', { reply: '550 No such user' }, badAddress],
    ['RCPT', { reply: '550 5.1.1 No such user' }, badAddress],
    ['RCPT', { reply: '550-5.1.1 No such user\r\n550 5.1.1 See our help' }, badAddress],
    ['RCPT', { reply: '553 5.1.3 Bad syntax' }, badAddress],
    ['RCPT', { reply: '550 5.2.1 Mailbox disabled' }, badAddress],
    ['RCPT', { reply: '552 5.2.2 Mailbox full' }, refused],
    ['RCPT', { reply: '550 5.7.1 Blocked by policy' }, refused],
    ['RCPT', { reply: '550 Relaying denied' }, refused],
    ['DATA', 'break', fault('smtp-unreachable')],
    ['DATA', { reply: '451 4.3.0 try later' }, deferred],
    ['DATA', { reply: '554 5.5.1 No valid recipients' }, refused],
    ['dot', { reply: '250 2.0.0 queued as 4711' }, { kind: 'accepted' }],
    ['dot', { reply: '451 4.7.0 try later' }, deferred],
    ['dot', { reply: '421 4.3.2 Shutting down' }, fault('smtp-unavailable')],
    ['dot', { reply: '552 5.3.4 Too large' }, refused],
    ['dot', { reply: '554 5.7.1 Spam' }, refused],
    ['dot', { reply: '550 5.1.1 No such user' }, badAddress],
    ['dot', { reply: 'what?' }, { kind: 'unknown', code: 'smtp-no-answer' }],
    ['dot', 'break', { kind: 'unknown', code: 'smtp-no-answer' }],
  ])('at %s: %j', async (stage, act, expected) => {
    server.script = { [stage]: act };
    expect(await send()).toMatchObject(expected);
    expect(server.mails).toHaveLength(stage === 'dot' ? 1 : 0);
  });

  it('is understood where it is told several things at once, too', async () => {
    server.script = {
      EHLO: PIPELINING,
      RCPT: { reply: '550 5.1.1 No such user' },
      DATA: { reply: '554 5.5.1 Nobody' },
    };
    expect(await send()).toMatchObject(badAddress);
    server.script = { EHLO: PIPELINING, dot: 'break' };
    expect(await send()).toMatchObject({ kind: 'unknown' });
    server.script = { EHLO: PIPELINING };
    expect(await send()).toMatchObject({ kind: 'accepted' });
    expect(server.mails).toHaveLength(2);
  });

  it.each<SmtpStage>(['connect', 'EHLO', 'MAIL', 'RCPT', 'DATA'])(
    'comes too late at %s: nothing was sent, and nothing is',
    async (stage) => {
      server.script = { [stage]: 'hang' };
      const lease = new AbortController();
      const outcome = provider.send(letter(), lease.signal);
      await eventually(() =>
        stage === 'connect' ? server.connections > 0 : server.commands.at(-1)?.startsWith(stage),
      );
      lease.abort();
      expect(await outcome).toMatchObject({ kind: 'later', code: 'lease-over', fault: false, ours: true });
      await eventually(() => server.open === 0);
      expect(server.mails).toEqual([]);
    },
  );

  const LARGE = 'x'.repeat(70) + '\n';
  it.each<[string, SmtpAct]>([
    ['breaks', 'break'],
    ['falls silent', 'hang'],
  ])('does not matter where it %s before it has all of an e-mail', async (_, act) => {
    server.script = { body: act };
    const large = emailLetter({ address: ADDRESS }, { text: LARGE.repeat(200_000) });
    const lease = new AbortController();
    const outcome = provider.send(large, lease.signal);
    await eventually(() => server.commands.includes('DATA'));
    if (act === 'hang') lease.abort();
    expect(await outcome).toMatchObject({ kind: 'later' });
    expect(server.mails).toEqual([]);
  });

  it('is not believed where it has an e-mail before all of it was told', async () => {
    server.script = { body: { reply: '250 2.0.0 queued' } };
    const large = emailLetter({ address: ADDRESS }, { text: LARGE.repeat(200_000) });
    expect(await send(large)).toMatchObject({ kind: 'unknown', code: 'smtp-no-answer' });
  });

  it.each<[SmtpStage, string]>([
    ['connect', 'later'],
    ['EHLO', 'later'],
    ['RCPT', 'later'],
    ['dot', 'unknown'],
  ])('is cut off where it comes to no end at %s', async (stage, kind) => {
    server.script = { [stage]: { reply: '250-' + 'and another line\r\n250-'.repeat(100_000) } };
    expect(await send()).toMatchObject({ kind });
  });

  it('is waited for no longer than an e-mail may take', async () => {
    // Half of it for one e-mail, which is enough to come to the dot.
    const hasty = mailing(inClear(server.port, { NOTIFICATION_LEASE_MS: '12000' }));
    server.script = { RCPT: 'hang' };
    expect(await hasty.send(letter(), AbortSignal.timeout(30_000))).toMatchObject(fault('smtp-timeout'));
    server.script = { dot: 'hang' };
    expect(await hasty.send(letter(), AbortSignal.timeout(30_000))).toMatchObject({ kind: 'unknown' });
    await hasty.close();
  });

  it('breaks nothing where it had closed a connection that is used again', async () => {
    await send();
    server.dropAll();
    const second = letter();
    expect(await send(second)).toMatchObject({ kind: 'accepted' });
    expect(server.mails.filter((mail) => mail.includes(second.id))).toHaveLength(1);
  });

  it('breaks off after the dot of the second e-mail of a connection: it is not sent by itself again', async () => {
    await send();
    server.script = { dot: 'break' };
    const second = letter();
    expect(await send(second)).toMatchObject({ kind: 'unknown' });
    expect(server.connections).toBe(1);
    expect(server.mails.filter((mail) => mail.includes(second.id))).toHaveLength(1);
  });

  it('holds up those that wait for its connection, and nothing of them is written once their time is over', async () => {
    const narrow = mailing(inClear(server.port, { NOTIFICATION_CONCURRENCY: '1' }));
    server.script = { dot: 'hang' };
    const [first, second] = [new AbortController(), new AbortController()];
    const outcomes = [narrow.send(letter(), first.signal), narrow.send(letter(), second.signal)];
    await eventually(() => server.mails.length === 1);
    second.abort();
    expect(await outcomes[1]).toMatchObject({ kind: 'later', code: 'lease-over' });
    first.abort();
    expect(await outcomes[0]).toMatchObject({ kind: 'unknown' });
    expect(server.mails).toHaveLength(1);
    await narrow.close();
  });
});
