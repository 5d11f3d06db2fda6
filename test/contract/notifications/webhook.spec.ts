import type { Letter, Provider } from '../../../src/notifications/channels/provider';
import { SilentServer } from '../../support/silent-server';
import { WebhookReceiver } from '../../support/webhook-receiver';
import { letterTo, WebhookWorld } from '../../integration/notifications/webhook/webhook-world';
import { describeProvider, type Disturbance } from './provider-suite';

type Answer = WebhookReceiver['answer'];

const answers: Record<Disturbance, Answer> = {
  accept: (response) => response.writeHead(204).end(),
  refuse: (response) => response.writeHead(400).end(),
  'refuse-address': (response) => response.writeHead(404).end('no https://old.example/ here'),
  throttle: (response) => response.writeHead(429, { 'retry-after': '120' }).end('not to https://old.example/'),
  break: (response) => void response.destroy(),
  hang: () => undefined,
};

/** The URL is the receiver's own: another server is another receiver. */
const to = (receiver: string, provider: Provider): Provider => ({
  ...{ channel: provider.channel, remembersMs: provider.remembersMs },
  ...{ timeoutMs: provider.timeoutMs, perSecond: provider.perSecond },
  send: (letter, signal) => provider.send({ ...letter, receiver }, signal),
  close: () => provider.close(),
});

async function open() {
  const [world, receiver, silent] = await Promise.all([
    WebhookWorld.open(),
    WebhookReceiver.start(),
    SilentServer.start(),
  ]);
  await world.register('shop', `${receiver.url}/hooks`);
  await world.register('gone', 'http://127.0.0.1:1/hooks');
  await world.register('silent', `https://127.0.0.1:${silent.port}/hooks`);
  const provider = world.provider();
  const times = (id: string) => receiver.received.filter(({ headers }) => headers['webhook-id'] === id).length;
  return {
    provider,
    letter: (rest?: Partial<Letter>) => ({ ...letterTo('shop'), ...rest }),
    disturb: (what: Disturbance) => (receiver.answer = answers[what]),
    ...{ reached: times, effects: times },
    unreachable: () => to('gone', provider),
    silent: () => to('silent', provider),
    knocks: () => silent.connections,
    close: async () => {
      await receiver.stop();
      await silent.stop();
      await world.close();
    },
  };
}

describeProvider(
  'webhook',
  { ...{ remembers: false, lookUp: false, retryAfter: true, refuses: false }, badAddresses: [] },
  open,
);
