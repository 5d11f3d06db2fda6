import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeAuthority } from '../../../scripts/servers/certs.mjs';
import type { Provider } from '../../../src/notifications/channels/provider';
import { eventually } from '../../support/eventually';
import { MailServer } from '../../support/mail-server';
import { mailing } from './email-stage';
import { emailLetter } from './letters';

let folder: string;
let authority: Awaited<ReturnType<typeof makeAuthority>>;
let caFile: string;
const opened: { stop(): Promise<void> }[] = [];
const providers: Provider[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parley-mail-'));
  authority = await makeAuthority();
  caFile = join(folder, 'ca.pem');
  writeFileSync(caFile, authority.pem);
});
afterEach(async () => {
  await Promise.all(providers.splice(0).map((one) => one.close()));
  await Promise.all(opened.splice(0).map((one) => one.stop()));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function serving(options: Parameters<typeof MailServer.start>[0]): Promise<MailServer> {
  const server = await MailServer.start(options);
  opened.push(server);
  return server;
}
function through(server: MailServer, env: NodeJS.ProcessEnv): Provider {
  const provider = mailing({ ...server.env, SMTP_TLS: 'starttls', SMTP_CA_FILE: caFile, ...env });
  providers.push(provider);
  return provider;
}
const send = (provider: Provider) => provider.send(emailLetter(), AbortSignal.timeout(30_000));
const tlsFault = { kind: 'later', code: 'smtp-tls', fault: true };

describe('TLS to a mail server', () => {
  it.each([
    ['starttls', false],
    ['implicit', true],
  ])('%s: is used', async (SMTP_TLS, implicit) => {
    const server = await serving({ tls: await authority.issue('mail'), implicit });
    expect(await send(through(server, { SMTP_TLS }))).toMatchObject({ kind: 'accepted' });
    expect(server.mails).toMatchObject([{ secure: true }]);
  });

  it('is not left out where the server does not offer it, and no password goes out', async () => {
    const passwords: string[] = [];
    const server = await serving({ login: (_, password) => passwords.push(password) > 0 });
    const provider = through(server, { SMTP_USERNAME: 'parley', SMTP_PASSWORD: 'hunter2' });
    const outcome = await send(provider);
    expect(outcome).toMatchObject(tlsFault);
    expect(outcome).toMatchObject({ detail: expect.stringContaining('Check SMTP_TLS') as string });
    expect([passwords, server.mails]).toEqual([[], []]);
  });

  it.each(['starttls', 'implicit'])('%s: refuses a certificate that proves nothing, and says why', async (SMTP_TLS) => {
    const stranger = await makeAuthority('Somebody else');
    const certificates = [
      await stranger.issue('mail'),
      await authority.issue('mail', { expired: true }),
      await authority.issue('mail', { hosts: ['other.example'] }),
    ];
    for (const tls of certificates) {
      const server = await serving({ tls, implicit: SMTP_TLS === 'implicit' });
      const outcome = await send(through(server, { SMTP_TLS }));
      expect(outcome).toMatchObject(tlsFault);
      expect(outcome).toMatchObject({
        detail: expect.stringMatching(/certificate.*Check SMTP_TLS, SMTP_CA_FILE/i) as string,
      });
      expect(server.mails).toEqual([]);
    }
  });

  it('counts with the authority that its file has by then', async () => {
    const [before, after] = [await makeAuthority('Before'), await makeAuthority('After')];
    const file = join(folder, 'changing.pem');
    writeFileSync(file, before.pem);
    const server = await serving({ tls: await after.issue('mail') });
    const provider = through(server, { SMTP_CA_FILE: file });
    expect(await send(provider)).toMatchObject(tlsFault);
    writeFileSync(file, after.pem);
    expect(await send(provider)).toMatchObject({ kind: 'accepted' });
  });

  it('does not start with an authority that is none', () => {
    const file = join(folder, 'none.pem');
    expect(() => mailing({ SMTP_HOST: 'localhost', EMAIL_FROM: 'a@example.com', SMTP_CA_FILE: file })).toThrow(
      /^SMTP_CA_FILE=".*none\.pem" cannot be used: .*ENOENT/,
    );
    writeFileSync(file, 'hello');
    expect(() => mailing({ SMTP_HOST: 'localhost', EMAIL_FROM: 'a@example.com', SMTP_CA_FILE: file })).toThrow(
      'it holds no certificate in PEM',
    );
  });
});

describe('an account at a mail server', () => {
  it('is used, and what it says when it refuses names neither name nor password', async () => {
    const server = await serving({ tls: await authority.issue('mail'), login: (_, password) => password === 'right' });
    const account = { SMTP_USERNAME: 'parley@example.com', SMTP_PASSWORD: 'right' };
    expect(await send(through(server, account))).toMatchObject({ kind: 'accepted' });
    expect(server.mails).toMatchObject([{ user: 'parley@example.com' }]);
    const outcome = await send(through(server, { ...account, SMTP_PASSWORD: 'hunter2' }));
    expect(outcome).toMatchObject({ kind: 'later', code: 'smtp-auth', fault: true });
    expect(JSON.stringify(outcome)).not.toMatch(/hunter2|parley@example/);
  });

  it('has the password that its file has now', async () => {
    let valid = 'first';
    const server = await serving({ tls: await authority.issue('mail'), login: (_, password) => password === valid });
    const file = join(folder, 'password');
    writeFileSync(file, 'first\n');
    const provider = through(server, { SMTP_USERNAME: 'parley', SMTP_PASSWORD_FILE: file });
    expect(await send(provider)).toMatchObject({ kind: 'accepted' });
    valid = 'second';
    writeFileSync(file, 'second\n');
    const connections = server.connections;
    await eventually(async () => {
      expect(await send(provider)).toMatchObject({ kind: 'accepted' });
      expect(server.connections).toBeGreaterThan(connections);
      return true;
    });
  });

  it('waits for a password that is set right', async () => {
    const server = await serving({ tls: await authority.issue('mail'), login: (_, password) => password === 'right' });
    const file = join(folder, 'mended');
    writeFileSync(file, 'wrong');
    const provider = through(server, { SMTP_USERNAME: 'parley', SMTP_PASSWORD_FILE: file });
    expect(await send(provider)).toMatchObject({ code: 'smtp-auth' });
    writeFileSync(file, 'right');
    await eventually(async () => (await send(provider)).kind === 'accepted');
  });
});
