import type { Channel, ChannelCatalog } from '../messaging/channels';
import type { KafkaAdmin } from '../messaging/kafka';
import { AppError, messageOf } from '../platform/errors';
import { retryForever, sleep } from '../platform/polling';
import type { Logger } from '../platform/telemetry';
import type { MissingRights } from './missing-rights';

const EVERY_MS = 60_000;

/**
 * Compares every channel with the broker, at start and then every minute, since topics are mended and partners added meanwhile. The partition of a key is computed from the channel's count, so
 * a topic that grew keeps its old partitions in use (order holds, an alarm is raised) and one that lacks some can't take all.
 */
export class PartitionCheck {
  private findings: string[] = ['topics not compared with the broker yet'];

  constructor(
    private readonly channels: ChannelCatalog,
    private readonly admin: KafkaAdmin,
    private readonly log: Logger,
    /** Absent: nobody asks whether the topics may be used. */
    private readonly rights?: MissingRights,
    private readonly everyMs = EVERY_MS,
  ) {}

  /** Undefined when every topic is as its channel says. */
  get trouble(): string | undefined {
    return this.findings.length === 0 ? undefined : this.findings.join('; ');
  }

  /** Rejects with the signal's reason when it aborts; until then a broker that is away is waited for. */
  async run(signal: AbortSignal): Promise<never> {
    for (;;) {
      let last = '';
      await retryForever(() => this.compare(), {
        policy: { initialMs: 500, maxMs: 10_000 },
        signal,
        onFailure: (error, attempt, pauseMs) => {
          const reason = messageOf(error);
          // Said once, and again when it is another.
          if (reason === last) return;
          last = reason;
          const code = error instanceof AppError ? error.code : 'internal';
          this.log.warn(
            { code, attempt, retry_in_ms: pauseMs, reason },
            code === 'broker-unreachable'
              ? 'broker not reachable: check KAFKA_BROKERS and that Kafka runs; orders are accepted meanwhile'
              : 'topics not compared with the broker; it is tried again, and orders are accepted meanwhile',
          );
        },
      });
      await sleep(this.everyMs, signal);
    }
  }

  private async compare(): Promise<void> {
    // Without the database the copy in memory serves; others say that it is away.
    await this.channels.load().catch(() => undefined);
    const channels = this.channels.all();
    const found = await this.admin.describeTopics(channels.map((channel) => channel.topic));
    const unseen = new Set(channels.map(({ topic }) => topic).filter((topic) => !found.has(topic)));
    const { missing, hidden } = (await this.rights?.of(channels)) ?? { missing: [], hidden: new Set<string>() };
    const differences = channels
      // What we may not see is not said to be missing.
      .filter(({ topic }) => !(unseen.has(topic) && hidden.has(topic)))
      .flatMap((channel) => differenceOf(channel, found.get(channel.topic)?.partitions));
    this.tell(differences, 'partition-count-differs');
    this.tell(missing, 'not-authorized');
    this.findings = [...differences, ...missing];
  }

  /** Said once, not every minute. */
  private tell(findings: readonly string[], code: string): void {
    for (const finding of findings) if (!this.findings.includes(finding)) this.log.error({ code }, finding);
  }
}

function differenceOf({ topic, partner, partitions: ours }: Channel, brokers: number | undefined): string[] {
  if (brokers === ours) return [];
  return [
    brokers === undefined
      ? `${topic} does not exist: make it again with "parley partner onboard ${partner} --file ${partner}.yaml --apply", or "parley partner add ${partner}"`
      : `${topic} has ${brokers} partitions, its channel ${ours}`,
  ];
}
