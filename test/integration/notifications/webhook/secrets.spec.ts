import { SecretUpkeep } from '../../../../src/notifications/channels/webhook/secret-upkeep';
import { createLogger } from '../../../../src/platform/telemetry';
import { eventually } from '../../../support/eventually';
import { WebhookReceiver } from '../../../support/webhook-receiver';
import { letterTo, newKey, WebhookWorld } from './webhook-world';

let world: WebhookWorld;
let receiver: WebhookReceiver;
beforeAll(async () => {
  world = await WebhookWorld.open();
  receiver = await WebhookReceiver.start();
});
afterAll(async () => {
  await world.close();
  await receiver.stop();
});

const HOUR_MS = 3_600_000;
const inHours = (hours: number) => new Date(Date.now() + hours * HOUR_MS);
let receivers = 0;
const registered = async () => {
  const id = `receiver-${++receivers}`;
  return { id, first: await world.register(id, receiver.url) };
};
const send = (id: string) => world.provider().send(letterTo(id), AbortSignal.timeout(30_000));
const numbersOf = async (id: string) =>
  (
    await world.database.query<{ number: number }>(
      'SELECT number FROM webhook_secret WHERE receiver = :id ORDER BY number DESC',
      { id },
    )
  ).map(({ number }) => number);

describe('the secret of a webhook', () => {
  it('is made with the webhook, has 32 random bytes, and signs what is sent', async () => {
    const { id, first } = await registered();
    expect(first).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(await send(id)).toMatchObject({ kind: 'accepted' });
    expect(receiver.verifies(first)).toBe(true);
    expect((await registered()).first).not.toBe(first);
  });

  it('is made once: a second first one is none', async () => {
    const { id } = await registered();
    expect(await world.database.transaction((tx) => world.secrets.first(tx, id, new Date()))).toBeUndefined();
    expect(await numbersOf(id)).toEqual([1]);
  });

  it('is nowhere in the database as it is', async () => {
    const { id, first } = await registered();
    const bytes = Buffer.from(first.slice('whsec_'.length), 'base64');
    const [row] = await world.database.query<{ text: string; sealed: Buffer }>(
      'SELECT webhook_secret::text AS text, sealed FROM webhook_secret WHERE receiver = :id',
      { id },
    );
    expect(row?.sealed.includes(bytes.subarray(0, 8))).toBe(false);
    for (const form of [first, bytes.toString('hex'), bytes.toString('base64')]) expect(row?.text).not.toContain(form);
  });

  it('signs beside a new one until its day, and is deleted then', async () => {
    const { id, first } = await registered();
    const { number, secret } = await world.rotate(id);
    expect(number).toBe(2);
    await send(id);
    expect([receiver.verifies(secret), receiver.verifies(first)]).toEqual([true, true]);
    expect(receiver.received.at(-1)?.headers['webhook-signature']?.split(' ')).toHaveLength(2);
    expect(await world.secrets.target(id, inHours(23.9))).toMatchObject({ secrets: { length: 2 } });
    expect(await world.secrets.target(id, inHours(24.1))).toMatchObject({ secrets: { length: 1 } });
    await world.secrets.sweep(inHours(23.9));
    expect(await numbersOf(id)).toEqual([2, 1]);
    await world.secrets.sweep(inHours(24.1));
    expect(await numbersOf(id)).toEqual([2]);
    await send(id);
    expect([receiver.verifies(secret), receiver.verifies(first)]).toEqual([true, false]);
  });

  it('is looked after by every process that notifies, and by no other', async () => {
    const { id } = await registered();
    await world.rotate(id, 1);
    const clock = { now: () => inHours(2) };
    const log = createLogger('silent', 'test');
    const idle = new SecretUpkeep(world.secrets, { roles: ['api'] }, clock, log, 1);
    const busy = new SecretUpkeep(world.secrets, { roles: ['notifier'] }, clock, log, 1);
    idle.onApplicationBootstrap();
    await idle.beforeApplicationShutdown();
    expect(await numbersOf(id)).toEqual([2, 1]);
    busy.onApplicationBootstrap();
    await eventually(async () => (await numbersOf(id)).length === 1);
    await busy.beforeApplicationShutdown();
  });

  it('that was stolen ends at once, with all before it', async () => {
    const { id, first } = await registered();
    const second = await world.rotate(id);
    const third = await world.rotate(id, 0);
    expect(await numbersOf(id)).toEqual([3]);
    await send(id);
    expect([first, second.secret, third.secret].map((secret) => receiver.verifies(secret))).toEqual([
      false,
      false,
      true,
    ]);
  });

  it('is one of three at most, and none is pushed out before its day', async () => {
    const { id } = await registered();
    await world.rotate(id, 1);
    await world.rotate(id, 48);
    await expect(world.rotate(id)).rejects.toMatchObject({ code: 'webhook-secrets-full', retriable: false });
    expect(await numbersOf(id)).toEqual([3, 2, 1]);
    // The first ends with the hour that the first rotation gave it, whatever later ones say.
    expect(await world.rotate(id, 24, inHours(1.1))).toMatchObject({ number: 4 });
    expect(await numbersOf(id)).toEqual([4, 3, 2]);
  });

  it('is drawn one after the other where two ask at once', async () => {
    const { id } = await registered();
    const [drawn, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const one = world.database.transaction(async (tx) => {
      const made = await world.secrets.rotate(tx, id, {}, new Date());
      drawn.resolve();
      await gate.promise;
      return made;
    });
    // Or the second might hold what the first then waits for, and nobody would ever wait for the first.
    await Promise.race([drawn.promise, one]);
    const other = world.rotate(id);
    await world.somebodyWaits();
    gate.resolve();
    expect([(await one).number, (await other).number].sort()).toEqual([2, 3]);
    expect(await numbersOf(id)).toEqual([3, 2, 1]);
  });

  it('needs a webhook, and a key to be sealed under', async () => {
    await expect(world.rotate('nobody')).rejects.toMatchObject({ code: 'webhook-absent', retriable: false });
    const { id } = await registered();
    const keys = world.config.webhookSecretKeys;
    world.config.webhookSecretKeys = '';
    await expect(world.rotate(id)).rejects.toMatchObject({ code: 'webhooks-unconfigured', retriable: false });
    world.config.webhookSecretKeys = keys;
  });
});

describe('the key under which secrets are sealed', () => {
  it('is exchanged without a gap: the new one last, then first, then alone', async () => {
    const { id, first } = await registered();
    const [old, fresh] = [world.config.webhookSecretKeys, newKey()];
    for (const keys of [`${old},${fresh}`, `${fresh},${old}`]) {
      world.config.webhookSecretKeys = keys;
      expect(await send(id)).toMatchObject({ kind: 'accepted' });
    }
    await world.secrets.sweep(new Date());
    world.config.webhookSecretKeys = fresh;
    expect(await send(id)).toMatchObject({ kind: 'accepted' });
    expect(receiver.verifies(first)).toBe(true);
    // And the old one is of no use to whoever finds it.
    world.config.webhookSecretKeys = old;
    expect(await send(id)).toMatchObject({ code: 'webhook-secret-sealed' });
    world.config.webhookSecretKeys = fresh;
  });

  it('is missed only by what it sealed: nothing is sent unsigned, and all flows when it is back', async () => {
    const { id } = await registered();
    const keys = world.config.webhookSecretKeys;
    world.config.webhookSecretKeys = newKey();
    const other = await registered();
    const before = receiver.received.length;
    // For days: that is no failure of the webhook, which staff would have to enable.
    await world.failed(id, 40, 121);
    expect(await send(id)).toEqual({
      ...{ kind: 'later', fault: true, ours: true, code: 'webhook-secret-sealed' },
      detail: expect.stringContaining('put the key back') as string,
    });
    expect(receiver.received).toHaveLength(before);
    expect((await world.row(id)).disabledAt).toBeNull();
    expect(await send(other.id)).toMatchObject({ kind: 'accepted' });
    // A rotation mends it, too: the newest counts.
    const { secret } = await world.rotate(id);
    expect(await send(id)).toMatchObject({ kind: 'accepted' });
    expect(receiver.verifies(secret)).toBe(true);
    world.config.webhookSecretKeys = keys;
    expect(await send(other.id)).toMatchObject({ code: 'webhook-secret-sealed' });
  });

  it('does not open what was moved from another row', async () => {
    const [mine, yours] = [await registered(), await registered()];
    await world.write(
      `UPDATE webhook_secret SET sealed = (SELECT sealed FROM webhook_secret WHERE receiver = :from) WHERE receiver = :to`,
      { from: mine.id, to: yours.id },
    );
    expect(await send(mine.id)).toMatchObject({ kind: 'accepted' });
    expect(await send(yours.id)).toMatchObject({ code: 'webhook-secret-sealed' });
  });
});
