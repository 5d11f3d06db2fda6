import { type LanePublisher, onDemand } from '../../../../src/messaging/kafka';
import { eventually } from '../../../support/eventually';

describe('a publisher on demand', () => {
  const made = () => {
    const events: string[] = [];
    let release = Promise.withResolvers<number>();
    const open = (): LanePublisher => {
      events.push('open');
      return {
        leaderOf: () => release.promise,
        send: () => Promise.reject(new Error('refused')),
        close: () => {
          events.push('close');
          return Promise.resolve();
        },
      };
    };
    const answer = () => {
      release.resolve(1);
      release = Promise.withResolvers<number>();
    };
    return { events, publisher: onDemand(open, 5), answer };
  };

  it('is opened by its first use and closed when it is unused for a while; the next use opens it again', async () => {
    const { events, publisher } = made();
    expect([publisher.opened, events]).toEqual([false, []]);
    await expect(publisher.send({ topic: 't', partition: 0, records: [] })).rejects.toThrow('refused');
    expect(events).toEqual(['open']);
    await eventually(() => events.length === 2);
    expect([publisher.opened, events]).toEqual([false, ['open', 'close']]);
    await expect(publisher.send({ topic: 't', partition: 0, records: [] })).rejects.toThrow('refused');
    expect(events).toEqual(['open', 'close', 'open']);
    await publisher.close();
    expect(events).toEqual(['open', 'close', 'open', 'close']);
  });

  it('is not closed under somebody who still waits', async () => {
    const { events, publisher, answer } = made();
    const asked = publisher.leaderOf('t', 0);
    await expect(publisher.send({ topic: 't', partition: 0, records: [] })).rejects.toThrow('refused');
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(events).toEqual(['open']);
    answer();
    expect(await asked).toBe(1);
    await eventually(() => events.length === 2);
  });
});
