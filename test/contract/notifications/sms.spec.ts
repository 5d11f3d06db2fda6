import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Letter } from '../../../src/notifications/channels/provider';
import { smsProvider } from '../../../src/notifications/channels/sms';
import { testConfig } from '../../support/config';
import { eventually } from '../../support/eventually';
import { SilentServer } from '../../support/silent-server';
import { SmsProviderServer } from '../../support/sms-provider';
import { smsLetter } from './letters';
import { describeProvider, type Disturbance } from './provider-suite';

const provided = (env: NodeJS.ProcessEnv) => {
  const provider = smsProvider(testConfig('postgres://u:p@127.0.0.1:5432/none', env));
  if (!provider) throw new Error('no provider is configured');
  return provider;
};
const ADDRESS = '+41793026727';
const error = (status: number, description: string, property?: string) => ({
  ...({ kind: 'answer', status, headers: { 'retry-after': '120' } } as const),
  body: { errorCode: `E${status}`, description, violations: property ? [{ property, violation: 'bad' }] : [] },
});
const BEHAVIOURS: Record<Disturbance, SmsProviderServer['behaviour']> = {
  accept: { kind: 'accept' },
  refuse: error(400, 'Bad content'),
  'refuse-address': error(400, `No such number: ${ADDRESS}`, 'messages[0].destinations[0].to'),
  throttle: error(429, `Too many for ${ADDRESS.slice(1)}`),
  break: { kind: 'break', sent: true },
  hang: { kind: 'hang', sent: true },
};

async function open(remembers: boolean) {
  const server = await SmsProviderServer.start();
  server.remembers = remembers;
  const silent = await SilentServer.start();
  const env = { ...server.env, SMS_REMEMBERS_HOURS: remembers ? '24' : '0' };
  return {
    server,
    provider: provided(env),
    letter: (rest?: Partial<Letter>) => smsLetter({ address: ADDRESS, ...rest }),
    disturb: (what: Disturbance) => (server.behaviour = BEHAVIOURS[what]),
    reached: (id: string) => server.received.filter(({ messageId }) => messageId === id).length,
    effects: (id: string) => server.sentTimes(id),
    unreachable: () => provided({ ...env, SMS_URL: 'http://127.0.0.1:1' }),
    silent: () => provided({ ...env, SMS_URL: `https://127.0.0.1:${silent.port}` }),
    knocks: () => silent.connections,
    setLog: (state: string) => (server.canBeLookedUp = state === 'available'),
    close: async () => {
      await server.stop();
      await silent.stop();
    },
  };
}

const FEATURES = {
  ...{ lookUp: true, retryAfter: true, refuses: true },
  badAddresses: ['', '0041793026727', '+41', 'tel:+41793026727', '+41793026727,+41793026728', `+${'4'.repeat(40)}`],
};
describeProvider('sms, where ids are remembered', { ...FEATURES, remembers: true }, () => open(true));
describeProvider('sms, where ids are forgotten', { ...FEATURES, remembers: false }, () => open(false));

describe('what Infobip says', () => {
  let stage: Awaited<ReturnType<typeof open>>;
  beforeAll(async () => {
    stage = await open(false);
  });
  afterAll(async () => {
    await stage.provider.close();
    await stage.close();
  });
  const send = (letter = stage.letter()) => stage.provider.send(letter, AbortSignal.timeout(30_000));
  const lookUp = (letter: Letter) => stage.provider.lookUp?.(letter, AbortSignal.timeout(30_000));

  it('is asked in the words of its API', async () => {
    const letter = stage.letter();
    await send(letter);
    expect(stage.server.received.at(-1)).toEqual({
      ...{ messageId: letter.id, to: '41793026727', sender: 'Parley', text: 'Order accepted' },
    });
  });

  it.each([
    ['REJECTED_INVALID_DESTINATION', { kind: 'refused', code: 'sms-number-refused', badAddress: true }],
    ['REJECTED_DND', { kind: 'refused', code: 'sms-undeliverable' }],
    ['REJECTED_DUPLICATE_MESSAGE_ID', { kind: 'accepted', code: 'sms-already-accepted' }],
    ['REJECTED_NOT_ENOUGH_CREDITS', { kind: 'later', code: 'sms-account', fault: true }],
    ['REJECTED_FLOODING_FILTER', { kind: 'later', code: 'sms-flooding', fault: false }],
    ['REJECTED_NETWORK', { kind: 'later', code: 'sms-no-route', fault: false }],
    ['REJECTED_ROUTE_NOT_AVAILABLE', { kind: 'later', code: 'sms-no-route', fault: false }],
  ])('about one message: %s', async (status, expected) => {
    stage.server.next.push({ kind: 'reject', status });
    expect(await send()).toMatchObject(expected);
  });

  it.each([
    [401, { kind: 'later', code: 'sms-not-authorized', fault: true }],
    [404, { kind: 'later', code: 'sms-wrong-url', fault: true }],
    [302, { kind: 'later', code: 'sms-wrong-url', fault: true }],
    [408, { kind: 'unknown', code: 'sms-server-error' }],
    [500, { kind: 'unknown', code: 'sms-server-error' }],
    [503, { kind: 'unknown', code: 'sms-server-error' }],
  ])('by HTTP %i', async (status, expected) => {
    stage.server.next.push({ kind: 'answer', status, headers: { location: 'http://127.0.0.1:1/' } });
    expect(await send()).toMatchObject(expected);
  });

  it.each([
    ['nothing', ''],
    ['no message', '{"messages":[]}'],
    ['a status of a group that nobody knows', { messages: [{ status: { groupId: 0, name: 'OK' } }] }],
    ['no JSON', '<html>'],
    ['too much', `{"messages":["${'x'.repeat(200_000)}"]}`],
  ])('is unknown where it answers 200 with %s', async (_, body) => {
    stage.server.next.push({ kind: 'answer', status: 200, body });
    expect(await send()).toMatchObject({ kind: 'unknown', code: 'sms-answer-unreadable' });
  });

  it('is believed about what it gave up', async () => {
    const letter = stage.letter();
    stage.server.next.push({ kind: 'reject', status: 'REJECTED_DND' });
    await send(letter);
    expect(await lookUp(letter)).toMatchObject({ kind: 'refused', code: 'sms-undeliverable' });
  });

  it('is not asked for what its log no longer has', async () => {
    const [old, young] = [49, 46].map((hours) =>
      stage.letter({ firstBegunAt: new Date(Date.now() - hours * 3_600_000) }),
    );
    if (!old || !young) throw new Error('two letters');
    expect(await lookUp(old)).toMatchObject({ kind: 'unavailable', code: 'sms-log-too-short' });
    expect(await lookUp(young)).toEqual({ kind: 'not-found' });
  });

  it('counts with the key that its file has now, and tells it nobody', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-sms-'));
    const file = join(folder, 'token');
    writeFileSync(file, 'outdated-key');
    const { SMS_TOKEN: current = '', ...rest } = stage.server.env;
    const provider = provided({ ...rest, SMS_TOKEN_FILE: file });
    const refused = await provider.send(stage.letter(), AbortSignal.timeout(30_000));
    expect(refused).toMatchObject({ kind: 'later', code: 'sms-not-authorized' });
    expect(JSON.stringify(refused)).not.toContain('outdated-key');
    writeFileSync(file, current);
    await eventually(
      async () => (await provider.send(stage.letter(), AbortSignal.timeout(30_000))).kind === 'accepted',
    );
    await provider.close();
    rmSync(folder, { recursive: true });
  });
});
