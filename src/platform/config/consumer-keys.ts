import { integer, integerOrEmpty, type Key } from './parsers';

/** Keys of the role consumer: how it reads, what protects it, how long it remembers. */
export const CONSUMER_KEYS = {
  consumerBatchSize: {
    env: 'CONSUMER_BATCH_SIZE',
    parse: integer(1, 5000),
    fallback: '500',
    unit: 'records',
    doc: 'Most records in one transaction. More gains little and makes a failing batch dearer.',
  },
  consumerLingerMs: {
    env: 'CONSUMER_LINGER_MS',
    parse: integer(0, 100),
    fallback: '5',
    unit: 'ms',
    doc: 'How long a batch that is not full waits for more.',
  },
  watchdogMs: {
    env: 'WATCHDOG_MS',
    parse: integerOrEmpty(1000, 299_999),
    fallback: '',
    unit: 'ms',
    doc: 'How long the event loop of a consumer may stand still (a handler that spins or blocks) before the process is ended, so that the record can be told from the others. Below KAFKA_SESSION_TIMEOUT_MS. Empty: two thirds of that (30000). It cannot be turned off.',
  },
  inboxRetentionHours: {
    env: 'INBOX_RETENTION_HOURS',
    parse: integer(25, 24 * 365 * 10),
    fallback: '720',
    unit: 'hours',
    doc: 'How long the id of a record is remembered, by which a repeat is told: 30 days. At least KAFKA_TOPIC_RETENTION_HOURS and a day, since a record can come again as long as its topic has it; that is up to retention.ms and segment.ms (7 days by default) together, for a topic deletes whole segments. Ids of a topic that keeps longer are not forgotten, and health says so.',
  },
  deadLetterRetentionDays: {
    env: 'DEAD_LETTER_RETENTION_DAYS',
    parse: integer(1, 3650),
    fallback: '90',
    unit: 'days',
    doc: 'How long a parked message is kept after it was processed or discarded, and a replay after its end. Unresolved ones are kept for ever.',
  },
  deadLetterFloodPerMinute: {
    env: 'DEAD_LETTER_FLOOD_PER_MINUTE',
    parse: integer(1, 1_000_000),
    fallback: '600',
    unit: 'messages/minute',
    doc: 'More new dead letters than this on one channel within a minute pause the channel until staff resume it. 600: more than people could ever look at one by one.',
  },
  deadLetterFloodOpen: {
    env: 'DEAD_LETTER_FLOOD_OPEN',
    parse: integer(1, 100_000_000),
    fallback: '20000',
    unit: 'messages',
    doc: 'More open dead letters than this on one channel pause the channel, so that garbage does not fill the database.',
  },
  suspendedHeldLimit: {
    env: 'SUSPENDED_HELD_LIMIT',
    parse: integer(1, 100_000_000),
    fallback: '100000',
    unit: 'messages',
    doc: 'So many messages of a suspended partner are kept in the database; then its topics are not read until it is resumed, and the broker keeps the rest for as long as their retention.ms says. 100000: a gigabyte at 10 kB each.',
  },
} satisfies Record<string, Key<unknown>>;
