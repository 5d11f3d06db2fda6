import { domainToASCII } from 'node:url';
import type { Letter, Provider } from '../../../src/notifications/channels/provider';
import { MailServer } from '../../support/mail-server';
import { mailing } from './email-stage';
import { emailLetter } from './letters';

let server: MailServer;
let provider: Provider;
beforeAll(async () => {
  server = await MailServer.start();
  provider = mailing(server.env);
});
afterAll(async () => {
  await provider.close();
  await server.stop();
});
beforeEach(() => void server.mails.splice(0));
const send = (letter: Letter, through = provider) => through.send(letter, AbortSignal.timeout(30_000));

/** Names of the headers of an e-mail, and its body. */
function read(raw: string) {
  const end = raw.indexOf('\r\n\r\n');
  const lines = raw
    .slice(0, end)
    .replaceAll(/\r\n[ \t]+/g, ' ')
    .split('\r\n');
  const headers = lines.map((line) => [
    line.slice(0, line.indexOf(':')).toLowerCase(),
    line.slice(line.indexOf(':') + 2),
  ]);
  return {
    names: headers.map(([name]) => name).sort(),
    of: (name: string) => headers.find(([one]) => one === name)?.[1],
  };
}
const NAMES = ['auto-submitted', 'content-type', 'date', 'from', 'message-id', 'mime-version', 'subject', 'to'];

describe('an e-mail', () => {
  it('carries the id of its notification, says that no person wrote it, and has text and HTML', async () => {
    const letter = emailLetter();
    expect(await send(letter)).toMatchObject({ kind: 'accepted' });
    const { from, to, raw } = server.mails[0] ?? { raw: '' };
    expect({ from, to }).toEqual({ from: 'orders@parley.example', to: ['jane.doe@example.com'] });
    const { names, of } = read(raw);
    expect(names).toEqual(NAMES);
    expect(of('message-id')).toBe(`<${letter.id}@parley.example>`);
    expect(of('auto-submitted')).toBe('auto-generated');
    expect(of('from')).toBe('Parley <orders@parley.example>');
    expect(of('to')).toBe('jane.doe@example.com');
    expect(Math.abs(Date.parse(of('date') ?? '') - Date.now())).toBeLessThan(60_000);
    expect(of('content-type')).toMatch(/^multipart\/alternative/);
    expect(raw).toMatch(/Content-Type: text\/plain; charset=utf-8[\s\S]*Content-Type: text\/html; charset=utf-8/);
    expect(raw).toContain('=C3=BC');
  });

  it.each([
    ['a list', 'a@example.com, b@example.com'],
    ['a list without blanks', 'a@example.com,b@example.com'],
    ['a list by semicolons', 'a@example.com;b@example.com'],
    ['a group', 'all: a@example.com, b@example.com;'],
    ['a name', 'Jane <jane@example.com>'],
    ['two in brackets', '<a@example.com><b@example.com>'],
    ['a quoted local part', '"a@example.com, b"@example.com'],
    ['a quoted line end', '"a\r\nBcc: b@example.com\r\n"@example.com'],
    ['a comment', 'a(b@example.com)@example.com'],
    ['a header behind it', 'a@example.com\r\nBcc: b@example.com'],
    ['a header behind a bare line feed', 'a@example.com\nBcc: b@example.com'],
    ['a command behind it', 'a@example.com>\r\nRCPT TO:<b@example.com'],
    ['a parameter of SMTP behind it', 'a@example.com> NOTIFY=SUCCESS'],
    ['an unfamiliar line end', 'a@example.com\u2028Bcc: b@example.com'],
    ['a null character', 'a@example.com\u0000b'],
    ['text that runs backwards', 'a\u202e@example.com'],
    ['a source route', '@relay.example:a@example.com'],
    ['a percent hack', 'a%example.com@'],
    ['an address of an IP', 'a@[127.0.0.1]'],
    ['a bang', 'a@example.com!b@example.com'],
  ])('goes nowhere with %s for an address', async (_, address) => {
    const letter = emailLetter({ address });
    expect(await send(letter)).toMatchObject({ kind: 'refused', code: 'address-malformed', badAddress: true });
    expect(server.mails).toEqual([]);
  });

  it.each([
    ['a plus', 'jane+orders@example.com', 'jane+orders@example.com'],
    ['an apostrophe', "o'neill@example.com", "o'neill@example.com"],
    ['a domain beyond ASCII', 'jane@bücher.example', 'jane@bücher.example'],
    ['a local part beyond ASCII', 'jörg@example.com', 'jörg@example.com'],
    ['percent and bang in its local part', 'a%b!c@example.com', 'a%b!c@example.com'],
  ])('goes to one with %s', async (_, address, expected) => {
    expect(await send(emailLetter({ address }))).toMatchObject({ kind: 'accepted' });
    expect(server.mails.map(({ to }) => to)).toEqual([[expected]]);
    expect(read(server.mails[0]?.raw ?? '').names).toEqual(NAMES);
  });

  it.each([
    ['CR and LF', 'Hello\r\nBcc: b@example.com\r\n\r\nOther body'],
    ['a bare LF', 'Hello\nBcc: b@example.com'],
    ['a bare CR', 'Hello\rBcc: b@example.com'],
    ['unfamiliar line ends', 'Hello\u2028Bcc: b@example.com\u0085X: y'],
    ['encoded line ends', 'Hello =?utf-8?Q?=0D=0ABcc:_b@example.com?='],
    ['commas and brackets', 'a@example.com, <b@example.com>; all: c@example.com;'],
    ['much of it', 'Grüße '.repeat(500)],
    ['half a pair of surrogates', 'Hello \ud83d'],
  ])('keeps its headers whatever its subject holds: %s', async (_, subject) => {
    expect(await send(emailLetter({}, { subject }))).toMatchObject({ kind: 'accepted' });
    const [mail] = server.mails;
    expect(mail?.to).toEqual(['jane.doe@example.com']);
    expect(read(mail?.raw ?? '').names).toEqual(NAMES);
    for (const line of (mail?.raw ?? '').split('\r\n')) expect(line.length).toBeLessThan(998);
  });

  it.each([
    ['a dot alone', 'before\r\n.\r\nMAIL FROM:<evil@example.com>\r\nRCPT TO:<b@example.com>\r\nDATA\r\nsmuggled'],
    ['a dot between bare line ends', 'before\n.\nMAIL FROM:<evil@example.com>'],
    ['a dot between bare carriage returns', 'before\r.\rMAIL FROM:<evil@example.com>'],
  ])('is one e-mail whatever its text holds: %s', async (_, text) => {
    expect(await send(emailLetter({}, { text, html: text }))).toMatchObject({ kind: 'accepted' });
    expect(await send(emailLetter())).toMatchObject({ kind: 'accepted' });
    expect(server.mails.map(({ from }) => from)).toEqual(['orders@parley.example', 'orders@parley.example']);
    expect(server.mails[0]?.raw).toContain('evil@example.com');
  });

  it.each([
    ['"Example, Ltd." <orders@example.com>', '"Example, Ltd." <orders@example.com>', 'orders@example.com'],
    [
      'Bücher GmbH <orders@bücher.example>',
      '=?UTF-8?Q?B=C3=BCcher_GmbH?= <orders@xn--bcher-kva.example>',
      'orders@xn--bcher-kva.example',
    ],
    ['orders@example.com', 'orders@example.com', 'orders@example.com'],
  ])('comes from %s', async (EMAIL_FROM, header, envelope) => {
    const other = mailing({ ...server.env, EMAIL_FROM });
    const letter = emailLetter();
    expect(await send(letter, other)).toMatchObject({ kind: 'accepted' });
    await other.close();
    const [mail] = server.mails;
    // The server shows a domain as people write it.
    expect(domainToASCII(mail?.from.split('@')[1] ?? '')).toBe(envelope.split('@')[1]);
    expect(read(mail?.raw ?? '').of('from')).toBe(header);
    expect(read(mail?.raw ?? '').of('message-id')).toBe(`<${letter.id}@${envelope.split('@')[1]}>`);
  });

  it('reads no file and asks no server for its content', async () => {
    const content = { channel: 'email', subject: 's', html: 'h', text: { path: '/etc/hostname' } };
    const outcome = await send(emailLetter({ content: content as unknown as Letter['content'] }));
    expect(outcome).toMatchObject({ kind: 'later' });
    expect(server.mails).toEqual([]);
  });
});
