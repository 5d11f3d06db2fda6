import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { version } from '../../package.json';
import type { ParleyTransport } from '../messaging/consumer';
import type { Relay, RelayObserver } from '../messaging/outbox';

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 300, 3600];

type Reading = () => readonly { labels: Record<string, string>; value: number }[];

/**
 * What the process tells Prometheus: base units; a label never carries an order, a message id, a key or an error's text.
 * Everything comes from memory, so a scrape costs the database nothing.
 */
export class Metrics {
  readonly registry = new Registry();
  private readonly published: Counter<'topic' | 'result'>;
  private readonly delay: Histogram;
  private readonly responses: Histogram<'partner' | 'outcome'>;
  private readonly notifications: Counter<'kind' | 'channel' | 'result'>;
  private readonly lapsedLeases: Counter<'doubtful'>;
  private readonly parts = new Map<string, Reading[]>();

  constructor() {
    const registers = [this.registry];
    collectDefaultMetrics({ register: this.registry });
    new Gauge({ name: 'parley_build_info', help: 'Always 1.', labelNames: ['version'], registers }).set({ version }, 1);
    this.published = new Counter({
      name: 'parley_outbox_published_total',
      help: 'Records that the broker acknowledged (result="acknowledged"), batches that failed (result="failed").',
      labelNames: ['topic', 'result'],
      registers,
    });
    this.delay = new Histogram({
      name: 'parley_outbox_publish_delay_seconds',
      help: 'From the birth of the oldest record of a batch to its acknowledgement.',
      buckets: SECONDS,
      registers,
    });
    this.responses = new Histogram({
      name: 'parley_order_response_duration_seconds',
      help: 'From a request to the writing of its answer, by what the answer was.',
      labelNames: ['partner', 'outcome'],
      buckets: [1, 5, 15, 60, 300, 900, 3600, 4 * 3600, 24 * 3600, 7 * 24 * 3600],
      registers,
    });
    this.notifications = new Counter({
      name: 'parley_notifications_total',
      help: 'What was written of notifications: sent, failed, unknown, expired, cancelled (nobody is reached there any more); retried or in-doubt where one waits for another attempt.',
      labelNames: ['kind', 'channel', 'result'],
      registers,
    });
    this.lapsedLeases = new Counter({
      name: 'parley_notification_leases_lapsed_total',
      help: 'Notifications taken back from a notifier that was not heard of; doubtful="true": one may have gone out.',
      labelNames: ['doubtful'],
      registers,
    });
  }

  /** Hears what becomes of notifications; given to whoever sends them. */
  readonly notificationObserver = {
    settled: (kind: string, channel: string, result: string): void => this.notifications.inc({ kind, channel, result }),
    lapsed: (doubtful: boolean, count: number): void => this.lapsedLeases.inc({ doubtful: String(doubtful) }, count),
  };

  /** Hears how long partners take to answer; given to the handlers of their answers. */
  readonly orderObserver = {
    answered: (partner: string, outcome: string, seconds: number): void =>
      this.responses.observe({ partner, outcome }, seconds),
  };

  /** Hears what the relay does; given to it at its making. */
  readonly relayObserver: RelayObserver = {
    sent: (topic, rows, oldest) => {
      this.published.inc({ topic, result: 'acknowledged' }, rows);
      this.delay.observe(Math.max(0, Date.now() - Date.parse(oldest)) / 1000);
    },
    failed: (topic) => this.published.inc({ topic, result: 'failed' }),
  };

  /** Reads these when somebody asks. */
  watch(relay: Relay | null, transport: ParleyTransport | null): void {
    if (relay) {
      this.gauge(
        'parley_outbox_pending_records',
        'Committed records that the broker has not acknowledged; 0 on a standby.',
        () => relay.state.pendingRows,
      );
      this.gauge(
        'parley_outbox_oldest_pending_age_seconds',
        'Age of the oldest committed record that the broker has not acknowledged: the one to page on.',
        () => relay.state.oldestPendingAgeMs / 1000,
      );
      this.gauge('parley_outbox_relay_owner', '1 when this process owns the outbox.', () =>
        Number(relay.state.role === 'owner'),
      );
    }
    if (!transport) return;
    this.watchConsumer(transport);
    this.watchViolations(transport);
  }

  private watchConsumer(transport: ParleyTransport): void {
    this.gauge(
      'parley_consumer_oldest_unprocessed_age_seconds',
      'Age of the oldest record in hand that has no outcome.',
      () => transport.health().oldestUnprocessedAgeMs / 1000,
    );
    this.gauges(
      'parley_channel_paused',
      '1: not read, by a flood of dead letters, by staff, or since as much of a suspended partner is kept as may be.',
      ['topic'],
      () => transport.health().pausedTopics.map((topic) => ({ labels: { topic }, value: 1 })),
    );
    this.gauges(
      'parley_channel_unread_kept_until_timestamp_seconds',
      'The broker may delete what is unread on a paused channel from then on.',
      ['topic'],
      () =>
        transport
          .health()
          .unreadKeptUntil.map(({ topic, until }) => ({ labels: { topic }, value: until.getTime() / 1000 })),
    );
    this.gauge(
      'parley_dlt_unpublished',
      'Dead letters that are not on their dead letter topic; safe in the table.',
      () => transport.health().unpublishedDeadLetters,
    );
    new Counter({
      name: 'parley_inbox_messages_total',
      help: 'Inbound records by recorded outcome.',
      labelNames: ['topic', 'result'],
      registers: [this.registry],
      collect() {
        this.reset();
        for (const [topic, counts] of Object.entries(transport.health().counts)) {
          for (const [result, count] of Object.entries(counts)) this.inc({ topic, result }, count);
        }
      },
    });
  }

  /** Apart from the counter above: a broken contract is the partner's to mend, whatever else dies is ours to look at. */
  private watchViolations(transport: ParleyTransport): void {
    new Counter({
      name: 'parley_contract_violations_total',
      help: 'Inbound records that broke their contract: bytes, schema, attributes or rules.',
      labelNames: ['topic', 'code'],
      registers: [this.registry],
      collect() {
        this.reset();
        for (const [topic, codes] of Object.entries(transport.health().violations)) {
          for (const [code, count] of Object.entries(codes)) this.inc({ topic, code }, count);
        }
      },
    });
  }

  /**
   * A gauge with labels; `read` is asked at every scrape and answers from memory. Rooms that share a gauge's name (with other
   * labels' values) each bring their part of it.
   */
  gauges<L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    read: () => readonly { labels: Record<L, string>; value: number }[],
  ): void {
    const parts = this.parts.get(name);
    if (parts) return void parts.push(read);
    const all: Reading[] = [read];
    this.parts.set(name, all);
    new Gauge<string>({
      name,
      help,
      labelNames: [...labelNames],
      registers: [this.registry],
      collect() {
        this.reset();
        for (const { labels, value } of all.flatMap((part) => part())) this.set(labels, value);
      },
    });
  }

  private gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers: [this.registry],
      collect() {
        this.set(read());
      },
    });
  }
}
