import { createRequire } from 'node:module';
import '../../../../../src/messaging/kafka/kafkajs';
import { scheduleCheckPendingRequests } from '../../../../../src/messaging/kafka/patches/request-queue';
import { assertKafkajsVersion } from '../../../../../src/messaging/kafka/patches/version';
import { shareConnect } from '../../../../../src/messaging/kafka/patches/connection';

const load = createRequire(__filename);
const RequestQueue = load('kafkajs/src/network/requestQueue') as new (options: object) => {
  pending: unknown[];
  throttledUntil: number;
  throttleCheckTimeoutId: NodeJS.Timeout | null;
  maybeThrottle(ms: number): void;
  checkPendingRequests(): void;
  scheduleCheckPendingRequests(): void;
  push(request: object): void;
  fulfillRequest(answer: object): void;
  destroy(): void;
};

const silent = { debug: () => undefined, warn: () => undefined };
const queue = (maxInFlightRequests = 1) =>
  new RequestQueue({
    maxInFlightRequests,
    requestTimeout: 1_000,
    enforceRequestTimeout: false,
    clientId: 'c',
    broker: 'b',
    logger: silent,
  });

const request = (correlationId: number, sent: number[]) => ({
  entry: { correlationId, resolve: () => undefined, reject: () => undefined },
  expectResponse: true,
  sendRequest: () => sent.push(correlationId),
});

describe('the request queue of a connection', () => {
  it('is the patched one', () => {
    expect(queue().scheduleCheckPendingRequests).toBe(scheduleCheckPendingRequests);
  });

  it('arms no timer while nothing waits', () => {
    const idle = queue();
    idle.scheduleCheckPendingRequests();
    idle.checkPendingRequests();
    expect(idle.throttleCheckTimeoutId).toBeNull();
  });

  it('sends what waits when its place is free', () => {
    const busy = queue();
    const sent: number[] = [];
    busy.push(request(1, sent));
    busy.push(request(2, sent));
    expect(sent).toEqual([1]);
    expect(busy.throttleCheckTimeoutId).not.toBeNull();
    busy.fulfillRequest({ correlationId: 1, payload: null, size: 0 });
    expect(sent).toEqual([1, 2]);
    busy.destroy();
  });

  it('sends what waits when the broker has throttled it long enough, and not before', async () => {
    const throttled = queue(5);
    const sent: number[] = [];
    const began = performance.now();
    throttled.maybeThrottle(60);
    await new Promise<void>((resolve) => {
      throttled.push({ ...request(1, sent), sendRequest: () => resolve() });
    });
    expect(performance.now() - began).toBeGreaterThan(50);
    throttled.destroy();
  });
});

describe('the patches', () => {
  it('refuse another release of kafkajs', () => {
    expect(() => assertKafkajsVersion('2.2.5')).toThrow('kafkajs 2.2.5 is installed');
    expect(() => assertKafkajsVersion('2.2.4')).not.toThrow();
  });

  it('let requests that come while a connection is being made share it', async () => {
    let made = 0;
    const connect = shareConnect(() => new Promise((resolve) => setTimeout(() => resolve(++made > 0), 5)));
    const connection = { connect };
    await Promise.all([connection.connect(), connection.connect(), connection.connect()]);
    expect(made).toBe(1);
    await connection.connect();
    expect(made).toBe(2);
    await Promise.all([connection.connect(), { connect }.connect()]);
    expect(made).toBe(4);
  });
});
