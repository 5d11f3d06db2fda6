import { FetchedBatch, type Membership } from '../../../../src/messaging/kafka/fetched-batch';
import { type EachBatchPayload, KafkaJSError } from '../../../../src/messaging/kafka/kafkajs';

/** A batch as kafkajs hands it over, and what was asked of the client. */
function fetched(membership: Partial<Membership> = {}, heartbeat = () => Promise.resolve()) {
  const resolved: string[] = [];
  const commits: bigint[] = [];
  const messages = ['5', '6', '9'].map((offset) => ({
    offset,
    timestamp: '1',
    key: null,
    value: null,
    headers: { a: Buffer.from('1') },
    attributes: 0,
  }));
  const payload = {
    // Offset 10 is a control record, which is not handed out.
    batch: { topic: 't', partition: 1, highWatermark: '11', messages, lastOffset: () => '10' },
    resolveOffset: (offset: string) => resolved.push(offset),
    heartbeat,
  } as unknown as EachBatchPayload;
  const batch = new FetchedBatch(payload, {
    generation: 1,
    isCurrent: () => true,
    isClosing: () => false,
    commit: (next) => commits.push(next),
    pause: () => undefined,
    ...membership,
  });
  return { batch, resolved, commits, messages };
}

describe('a fetched batch', () => {
  it('commits behind what is done, and behind control records with the last', async () => {
    const { batch, resolved, commits } = fetched();
    await batch.done(5n);
    await batch.done(5n);
    expect(batch.complete).toBe(false);
    await batch.done(9n);
    expect(batch.complete).toBe(true);
    expect([resolved, commits]).toEqual([
      ['5', '9'],
      [6n, 11n],
    ]);
  });

  it('of a generation that is over moves nothing', async () => {
    const { batch, resolved, commits } = fetched({ isCurrent: () => false });
    expect(batch.isStale()).toBe(true);
    await batch.done(9n);
    expect([resolved, commits, batch.complete]).toEqual([[], [], false]);
  });

  it('still commits what was done while its source closes', async () => {
    const { batch, commits } = fetched({ isClosing: () => true });
    expect(batch.isStale()).toBe(true);
    await batch.done(6n);
    expect(commits).toEqual([7n]);
  });

  it('refuses an offset that it does not hold', async () => {
    await expect(fetched().batch.done(10n)).rejects.toThrow(RangeError);
  });

  it.each([
    ["the client's own error", new KafkaJSError('rebalancing'), 'rebalancing'],
    ['a fault inside the client', new TypeError('coordinator is null'), 'coordinator is null'],
  ])('keeps %s from a heartbeat for the client and becomes stale', async (_name, error, message) => {
    const { batch } = fetched({}, () => Promise.reject(error));
    await batch.heartbeat();
    await batch.heartbeat();
    expect(batch.lost).toBeInstanceOf(KafkaJSError);
    expect(batch.lost?.message).toBe(message);
    expect(batch.isStale()).toBe(true);
  });
});
