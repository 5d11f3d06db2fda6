import type { Database } from '../../platform/database';
import { messageOf } from '../../platform/errors';
import { nowAndThen } from '../../platform/polling';
import type { GaugeBoard, Logger } from '../../platform/telemetry';
import type { Channel } from '../domain/notification';

const EVERY_MS = 15_000;

/** From when on it waits for us: what was not tried, or waits for quiet hours to end, from when it is due; what was tried from when it was made. */
const SINCE = `CASE WHEN attempts = 0 OR code = 'quiet-hours' AND NOT doubtful THEN greatest(created_at, next_attempt_at) ELSE created_at END AS since`;

interface Waiting {
  channel: Channel;
  pending: number;
  unknown: number;
  oldestSeconds: number;
}
interface Taps {
  channel: Channel;
  open: number;
  disabled: number;
  /** Why one of those that are open failed last. */
  code: string | null;
}

const TAPS: Readonly<Record<Channel, (open: number) => string>> = {
  email: () => 'no e-mail is sent',
  sms: () => 'no SMS is sent',
  webhook: (open) => `nothing is sent to ${open} of the webhooks`,
};

/** What waits, as gauges: read from the database now and then, never per scrape. */
export class NotificationFigures {
  private waiting: readonly Waiting[] = [];
  private taps: readonly Taps[] = [];

  constructor(
    private readonly database: Database,
    private readonly log: Logger,
    board: GaugeBoard,
  ) {
    this.show(board);
  }

  /** For health, by channel and without a receiver: undefined while no provider is left alone for failing. */
  get trouble(): string | undefined {
    const shut = this.taps.flatMap(({ channel, open, code }) =>
      open > 0 ? [`${TAPS[channel](open)} for now, since that fails${code === null ? '' : ` (${code})`}`] : [],
    );
    return shut.length === 0 ? undefined : `${shut.join('; ')}: see parley notifications providers`;
  }

  private show(board: GaugeBoard): void {
    const gauge = (name: string, help: string, read: () => readonly { channel: Channel; value: number }[]) =>
      board.gauges(`parley_notification${name}`, help, ['channel'], () =>
        read().map(({ channel, value }) => ({ labels: { channel }, value })),
      );
    const ofWaiting = (name: keyof Omit<Waiting, 'channel'>) => () =>
      this.waiting.map((one) => ({ channel: one.channel, value: one[name] }));
    const ofTaps = (name: 'open' | 'disabled') => () =>
      this.taps.map((one) => ({ channel: one.channel, value: one[name] }));
    gauge('s_pending', 'Notifications that wait or are being sent.', ofWaiting('pending'));
    gauge(
      's_oldest_pending_age_seconds',
      'How long the oldest has waited since it was first due, quiet hours and disabled providers apart: the one to page on.',
      ofWaiting('oldestSeconds'),
    );
    gauge('s_unknown', 'May or may not have gone out: a person decides.', ofWaiting('unknown'));
    gauge('_breakers_open', 'Providers that nothing is sent through for now, since they fail.', ofTaps('open'));
    gauge('_providers_disabled', 'Providers that nothing is sent through until staff enable them.', ofTaps('disabled'));
  }

  run(signal: AbortSignal): Promise<void> {
    return nowAndThen(() => this.read(), {
      everyMs: EVERY_MS,
      signal,
      onFailure: (error) =>
        this.log.warn(
          { reason: messageOf(error) },
          'figures of notifications could not be read; the last ones are shown',
        ),
    });
  }

  /** All of them, once. A channel in which nothing waits is 0. */
  async read(): Promise<void> {
    this.waiting = await this.database.query<Waiting>(
      `SELECT c.channel, count(n.id) FILTER (WHERE n.state <> 'unknown')::int AS pending, count(n.id) FILTER (WHERE n.state = 'unknown')::int AS unknown,
         coalesce(extract(epoch FROM now() - min(n.since) FILTER (WHERE n.state <> 'unknown' AND n.since <= now() AND p.disabled_at IS NULL)), 0)::float8
           AS "oldestSeconds"
       FROM unnest(ARRAY['email', 'sms', 'webhook']) c (channel) LEFT JOIN (
         SELECT id, channel, state, provider, ${SINCE} FROM notification WHERE state = 'pending'
         UNION ALL SELECT id, channel, state, provider, ${SINCE} FROM notification WHERE state = 'sending' AND lease_until IS NOT NULL
         UNION ALL SELECT id, channel, state, provider, ${SINCE} FROM notification WHERE state = 'unknown') n USING (channel)
         LEFT JOIN notification_provider p ON p.name = n.provider
       GROUP BY c.channel`,
    );
    this.taps = await this.database.query<Taps>(
      `SELECT channel, count(*) FILTER (WHERE open_until > now())::int AS open, count(disabled_at)::int AS disabled,
         max(last_code) FILTER (WHERE open_until > now()) AS code
       FROM notification_provider GROUP BY channel`,
    );
  }
}
