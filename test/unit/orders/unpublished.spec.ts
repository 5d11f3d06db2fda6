import type { Unpublished } from '../../../src/orders/domain/timeline';
import { at, awaiting, order, placed, sentAt, story } from './timeline-story';

describe('the timeline of an order that is not published', () => {
  it.each<[Partial<Unpublished>, string]>([
    [{ state: 'waiting', detail: 'The topic does not exist.' }, 'waits to be published: The topic does not exist.'],
    [
      { state: 'held', detail: 'It waits behind a dead letter of its key.' },
      'waits to be published: It waits behind a dead letter of its key.',
    ],
    [
      { state: 'dead', detail: 'The message is larger than the topic takes.' },
      'is refused by the broker and is kept as outbound dead letter 17: The message is larger than the topic takes.',
    ],
    [
      { state: 'discarded', discardReason: 'ordered by telephone', discardedAt: sentAt },
      'was discarded by staff and is never sent: ordered by telephone',
    ],
  ])('says why the order is not published: %j', (parked, text) => {
    const nothing = { seq: '17', state: 'waiting' as const, detail: '', discardReason: null, discardedAt: null };
    const steps = story(
      order,
      [placed],
      { unpublished: new Map([['17', { ...nothing, ...parked }]]), requests: [awaiting({}, { isPublished: false })] },
      at,
    );
    expect(steps.slice(1)).toMatchObject([
      {
        at: parked.discardedAt ?? null,
        step: parked.discardedAt ? 'not-published' : 'waiting-to-be-published',
        text: `The order ${text}`,
        offset: null,
      },
    ]);
  });

  it('says that one was settled whose row and receipt retention has dropped', () => {
    const [, step] = story(order, [placed], { dropped: new Set(['17']) }, at);
    expect(step).toMatchObject({ at: placed.at, step: 'published', offset: null, topic: 'orders.acme.request.v1' });
    expect(step?.text).toBe('The order was sent, or discarded by staff; its place in Kafka is kept no more.');
  });

  it('says what keeps the relay from sending the order, where nothing of it is parked', () => {
    const delays = new Map([['17', 'No relay is at work.']]);
    const [, step] = story(order, [placed], { delays }, at);
    expect(step).toMatchObject({
      step: 'waiting-to-be-published',
      text: 'The order waits to be published: No relay is at work.',
    });
  });
});
