import { COMPANY, Shop } from './people/company.mjs';
import { killBetweenSendingAndWriting, untilNothingIsUnderWay } from './people/crash.mjs';
import { Staff } from './staff.mjs';
import { eventually } from './story.mjs';
import { bold, dim, elapsed, event, green, red, say, table, title } from './terminal.mjs';

const WORDS = { title: 'Spring catalogue', text: 'It is in the portal.' };
/** One for each way in which a notification can be dealt with when nobody knows whether it went out. */
const IN_DOUBT = [
  {
    ...{ policy: 'repeat', what: 'a confirmation code, by SMS', expected: [2, 'sent'] },
    request: { kind: 'confirmation-code', channel: 'sms', address: '+4915112345601', data: { code: '493 817' } },
  },
  {
    ...{ policy: 'skip', what: 'an announcement, by SMS', expected: [1, 'failed'] },
    request: { kind: 'announcement', channel: 'sms', address: '+4915112345602', data: WORDS },
  },
  {
    ...{ policy: 'look-up', what: 'a message, by SMS (its log is asked)', expected: [1, 'sent'] },
    request: { kind: 'message', channel: 'sms', address: '+4915112345603', data: WORDS },
  },
  {
    ...{ policy: 'look-up', what: 'a message, by e-mail (nobody to ask)', expected: [1, 'unknown'] },
    request: { kind: 'message', channel: 'email', address: 'kim@customer.example', data: WORDS },
  },
];
const idOf = (index) => `demo/in-doubt/${index + 1}`;

/**
 * Has the company's own systems ask for notifications, and kills the notifier when the providers have them and it has not written so. It is
 * started again; what it makes of them takes a lease, and is shown by {@link notificationPart}.
 */
export async function beginNotifications(system, client, schemas) {
  const shop = new Shop(system, schemas);
  const code = {
    ...{ notificationId: 'demo/login/1', kind: 'confirmation-code', channel: 'sms', address: '+4915112345600' },
    data: { code: '204 655', purpose: 'signing in to the order portal' },
  };
  await shop.ask(code, code);
  await eventually('The code', () => system.people.phones.sent.length > 0);
  await untilNothingIsUnderWay(system);
  const requests = IN_DOUBT.map(({ request }, index) => ({ notificationId: idOf(index), ...request }));
  const addresses = requests.map(({ address }) => address);
  const ask = () => shop.ask(...requests);
  await killBetweenSendingAndWriting(system, addresses, ask);
  const killedAt = elapsed();
  system.startNotifier();
  return { system, client, killedAt };
}

/** Who was told, how often, and what Parley says of it. Returns whether it is as promised. */
export async function notificationPart({ system, client, killedAt }) {
  title('Who is told, by e-mail, SMS and signed webhook');
  await system.notifierReady();
  const { mailbox, phones, hook } = system.people;
  const isSigned = await showReceived(mailbox, hook);
  const codes = phones.sent.filter(({ to }) => to === '+4915112345600');
  say(`  a system of the ${COMPANY}'s own asks twice, under one id, to send a code on notifications.request.v1`);
  say(`    SMS that went out: ${codes.length}   ${dim(`“${codes[0].text}”`)}`);
  const isAsPromised = await showDoubts(system, client, killedAt);
  return isSigned && codes.length === 1 && isAsPromised;
}

async function showReceived(mailbox, hook) {
  const mail = mailbox.mails.find(({ subject }) => subject.includes('rejected')) ?? mailbox.mails[0];
  say(`  e-mail, caught by a mail server on this machine`);
  const head = [`To: ${mail.to}`, `Subject: ${mail.subject}`, `Message-ID: ${mail.messageId}`];
  for (const line of [...head, ...mail.lines.slice(0, 2)]) say(dim(`    ${line}`));
  const told = await eventually('The first webhook', () => hook.received[0]);
  say('  webhook, received by a system on this machine');
  for (const name of ['id', 'signature']) say(dim(`    webhook-${name}: ${told.headers[`webhook-${name}`]}`));
  say(dim(`    ${told.body.length > 140 ? `${told.body.slice(0, 140)}…` : told.body}`));
  const fault = hook.fault(told);
  const refusal = hook.fault({ ...told, body: told.body.replace('"orderNumber":"', '"orderNumber":"X') });
  say(`    by the reference implementation of Standard Webhooks: ${fault ?? green('the signature holds')}`);
  say(`    the same with another order number in it: ${refusal ?? red('the signature holds')}`);
  return fault === undefined && refusal !== undefined;
}

/** What became of those of which the killed process knew, and nobody else, that they had gone out. */
async function showDoubts(system, client, killedAt) {
  say(`\n  ${bold('Killed between the provider’s OK and our note of it: the kind of notification says what then')}`);
  say('  four are asked for; the providers have them and say OK, and nobody has written that down yet');
  event('the process that sends them is killed (SIGKILL) and started again; what it had is in doubt', killedAt);
  await untilNothingIsUnderWay(system);
  const { items } = (await client.request('/v1/notifications?limit=200')).body;
  const { mailbox, phones } = system.people;
  const rows = IN_DOUBT.map(({ policy, what, expected, request: { address } }, index) => {
    const { id, state, code } = items.find(({ eventId }) => eventId === `request/${idOf(index)}`);
    const received = [...mailbox.mails, ...phones.sent].filter(({ to }) => to === address).length;
    return { policy, what, received, state, code, id, isAsPromised: received === expected[0] && state === expected[1] };
  });
  table([
    ['policy', 'what was sent', 'received', 'Parley says'],
    ...rows.map(({ policy, what, received, state, code }) => {
      return [policy, what, received, code === null ? state : `${state} (${code})`];
    }),
  ]);
  say(dim('    repeat: rather twice than never; skip: rather never than twice; look-up: the provider is asked'));
  for (const { what, isAsPromised } of rows) if (!isAsPromised) say(red(`    ${what}: not as its policy says`));
  const isFine = rows.every(({ isAsPromised }) => isAsPromised);
  if (isFine) await resolve(system, rows[3].id);
  return isFine;
}

/** What nobody can be asked about is found out by a person. */
async function resolve(system, id) {
  say('    where nobody can be asked, a person finds out:');
  const reason = ['--reason', 'kim has it'];
  await new Staff(system, system.supportKey).run(['notifications', 'resolve', id, '--delivered', ...reason]);
}
