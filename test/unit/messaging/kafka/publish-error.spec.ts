import {
  KafkaJSConnectionError,
  KafkaJSNonRetriableError,
  KafkaJSNumberOfRetriesExceeded,
  KafkaJSProtocolError,
} from 'kafkajs';
import { CrashCount, comesFromTheBroker } from '../../../../src/messaging/kafka/crash-count';
import { PublishError, toPublishError } from '../../../../src/messaging/kafka/publish-error';

const protocol = (type: string, retriable: boolean) =>
  new KafkaJSProtocolError({
    name: 'KafkaJSProtocolError',
    message: `it said ${type}`,
    type,
    code: 1,
    retriable,
  } as never);

type Wrapper = new (error: Error, options: { cause: Error }) => Error;

/** As kafkajs' retrier wraps what it gives up on; the typings leave the cause out. */
const wrapped = (error: Error) =>
  new (KafkaJSNonRetriableError as unknown as Wrapper)(
    new KafkaJSNumberOfRetriesExceeded(error, { retryCount: 1, retryTime: 1 }),
    { cause: error },
  );

describe('a publish error', () => {
  it.each([
    ['MESSAGE_TOO_LARGE', 'message-too-large', 'refused', false],
    ['RECORD_LIST_TOO_LARGE', 'message-too-large', 'refused', false],
    ['INVALID_RECORD', 'invalid-record', 'refused', false],
    ['TOPIC_AUTHORIZATION_FAILED', 'not-authorized', 'unknown', true],
    ['UNKNOWN_TOPIC_OR_PARTITION', 'topic-missing', 'unknown', true],
    ['REQUEST_TIMED_OUT', 'not-acknowledged', 'unknown', true],
    ['NOT_ENOUGH_REPLICAS_AFTER_APPEND', 'not-acknowledged', 'unknown', true],
    ['OUT_OF_ORDER_SEQUENCE_NUMBER', 'not-acknowledged', 'unknown', true],
  ])('for %s during a send has code %s and outcome %s', (type, code, outcome, retriable) => {
    const error = toPublishError('t', 3, 'sending', wrapped(protocol(type, retriable)));
    expect(error).toMatchObject({ code, outcome, retriable, message: `t/3: it said ${type}` });
  });

  it('before a send has left is always refused', () => {
    const error = toPublishError('t', 0, 'before-send', wrapped(new KafkaJSConnectionError('down', {})));
    expect(error).toMatchObject({ code: 'broker-unreachable', outcome: 'refused', retriable: true });
  });

  it('for a record that cannot be encoded is refused and hopeless', () => {
    expect(toPublishError('t', 0, 'sending', wrapped(new TypeError('null')))).toMatchObject({
      code: 'invalid-record',
      outcome: 'refused',
      retriable: false,
    });
  });

  it('stays itself', () => {
    const error = new PublishError('lane-busy', 'refused', 't', 0, 'busy');
    expect(toPublishError('t', 0, 'sending', error)).toBe(error);
  });
});

describe('crashes', () => {
  it('are excused when the broker explains them', () => {
    expect(comesFromTheBroker(wrapped(new KafkaJSConnectionError('down', {})))).toBe(true);
    expect(comesFromTheBroker(wrapped(protocol('NOT_COORDINATOR_FOR_GROUP', true)))).toBe(true);
    expect(comesFromTheBroker(wrapped(protocol('INCONSISTENT_GROUP_PROTOCOL', false)))).toBe(false);
    expect(comesFromTheBroker(new TypeError('x'))).toBe(false);
  });

  it('are too many when five fall into ten minutes, not when they are spread', () => {
    const close = new CrashCount();
    expect([0, 1, 2, 3, 4].map((minute) => close.add(minute * 60_000))).toEqual([false, false, false, false, true]);
    const spread = new CrashCount();
    expect([0, 3, 6, 9, 12, 15].map((minute) => spread.add(minute * 60_000))).toEqual(Array(6).fill(false));
  });
});
