import type { ChannelCatalog } from '../messaging/channels';
import type { KafkaAdmin } from '../messaging/kafka';
import { messageOf } from '../platform/errors';
import { retryForever } from '../platform/polling';
import type { Logger } from '../platform/telemetry';

/**
 * Compares every channel with the broker, once at start. The partition of a key is computed from the channel's count, so
 * a topic that grew keeps its old partitions in use (order holds, an alarm is raised) and one that lacks some can't take all.
 */
export class PartitionCheck {
  private findings: string[] = ['topics not compared with the broker yet'];

  constructor(
    private readonly channels: ChannelCatalog,
    private readonly admin: KafkaAdmin,
    private readonly log: Logger,
  ) {}

  /** Undefined when every topic is as its channel says. */
  get trouble(): string | undefined {
    return this.findings.length === 0 ? undefined : this.findings.join('; ');
  }

  /** Waits for the broker as long as it takes; resolves when the comparison is made. */
  async run(signal: AbortSignal): Promise<void> {
    await retryForever(() => this.compare(), {
      policy: { initialMs: 500, maxMs: 10_000 },
      signal,
      onFailure: (error, attempt, pauseMs) =>
        this.log.warn(
          { attempt, retry_in_ms: pauseMs, reason: messageOf(error) },
          'broker not reachable: check KAFKA_BROKERS and that Kafka runs; orders are accepted meanwhile',
        ),
    });
  }

  private async compare(): Promise<void> {
    const channels = this.channels.all();
    const found = await this.admin.describeTopics(channels.map((channel) => channel.topic));
    this.findings = [];
    for (const { topic, partitions } of channels) {
      const there = found.get(topic)?.partitions;
      if (there === partitions) continue;
      const finding =
        there === undefined
          ? `${topic} does not exist: run "parley partner add" again`
          : `${topic} has ${there} partitions, its channel ${partitions}`;
      this.findings.push(finding);
      this.log.error(
        { topic, partitions_channel: partitions, partitions_broker: there ?? 0, code: 'partition-count-differs' },
        finding,
      );
    }
  }
}
