import type { Database } from '../../../platform/database';
import type { ChannelCatalog } from '../../channels';
import type { InboundRecord, KafkaAdmin } from '../../kafka';
import type { ChannelPause } from './channel-pauses';

type Unread = Pick<InboundRecord, 'topic' | 'timestamp'>;

const EVERY_MS = 60_000;

/**
 * Until when the broker keeps what is unread on paused channels: the time of the oldest record that was fetched and not read, and as long as its topic keeps records. While a
 * channel is paused its oldest record stays the same, so of what processes say of their partitions the least is true.
 */
export class UnreadRecords {
  private readonly oldest = new Map<string, number>();
  private readonly keeps = new Map<string, { ms: number; askedAt: number }>();

  constructor(
    private readonly database: Database,
    private readonly channels: ChannelCatalog,
    private readonly admin: Pick<KafkaAdmin, 'describeTopics'>,
  ) {}

  /** This one was fetched and is not read now. A record without a time says nothing. */
  note({ topic, timestamp }: Unread): void {
    if (timestamp > 0) this.oldest.set(topic, Math.min(timestamp, this.oldest.get(topic) ?? Infinity));
  }

  /** Writes down what was noted since, of channels that are paused; rejects when broker or database can't be asked. */
  async look(paused: ReadonlyMap<number, ChannelPause>): Promise<void> {
    for (const [topic, oldest] of [...this.oldest]) {
      const channel = this.channels.find(topic);
      const pause = channel && paused.get(channel.id);
      const keepsMs = pause && (await this.keepsMs(topic));
      this.oldest.delete(topic);
      if (keepsMs === undefined || !Number.isFinite(keepsMs)) continue;
      const until = new Date(oldest + keepsMs);
      if (pause?.keptUntil && pause.keptUntil <= until) continue;
      await this.database.statement(
        `UPDATE channel_pause SET kept_until = least(coalesce(kept_until, 'infinity'), :until) WHERE channel_id = :channelId`,
        { channelId: channel?.id, until },
      );
    }
  }

  private async keepsMs(topic: string): Promise<number | undefined> {
    const known = this.keeps.get(topic);
    if (known && performance.now() - known.askedAt < EVERY_MS) return known.ms;
    const ms = (await this.admin.describeTopics([topic])).get(topic)?.retentionMs;
    if (ms !== undefined) this.keeps.set(topic, { ms, askedAt: performance.now() });
    return ms;
  }
}
