import type { Database } from '../../../platform/database';
import type { Logger } from '../../../platform/telemetry';
import { type Channel, type ChannelCatalog, stateOf } from '../../channels';
import { SUSPENDED_FULL, pauseChannel } from './channel-pauses';

/**
 * Stops reading a suspended partner of whom as much is kept as may be: the rest stays in Kafka, for as long as its topics keep it. All channels of the partner stop, since the
 * limit is of all; they are read again when it is resumed. What counts is in the table, so that all processes count together; a partner of whom nothing is held costs nothing.
 */
export class KeptLimit {
  private readonly held = new Map<string, number>();
  private readonly lookEvery: number;

  constructor(
    private readonly database: Database,
    private readonly channels: ChannelCatalog,
    private readonly limit: number,
    private readonly logger: Logger,
  ) {
    this.lookEvery = Math.max(1, Math.floor(limit / 10));
  }

  /** A message of this topic was stored untried in this process. */
  note(topic: string): void {
    const partner = this.channels.find(topic)?.partner;
    if (partner !== undefined) this.held.set(partner, (this.held.get(partner) ?? 0) + 1);
  }

  /** Has so much been held since the last count that it can't wait for the next look? */
  isDue({ partner }: Channel): boolean {
    return (this.held.get(partner) ?? 0) >= this.lookEvery;
  }

  /** Partners of whom anything was held since the last count. */
  get toCount(): string[] {
    return [...this.held.keys()];
  }

  /** True: the partner's channels are paused now. */
  async count(partner: string, now: Date): Promise<boolean> {
    this.held.delete(partner);
    const [kept] = await this.database.query<{ count: number }>(KEPT, { partner, most: this.limit + 1 });
    if (!kept || kept.count <= this.limit) return false;
    const reason = `more than ${this.limit} messages of the suspended partner are kept`;
    const paused = await this.database.transaction(async (tx) => {
      // Whoever resumes it lifts the pauses that are there: none may come behind that.
      if ((await stateOf(tx, partner)) !== 'suspended') return undefined;
      const ours = this.channels.inbound().filter((channel) => channel.partner === partner);
      let isFirst = false;
      for (const { id } of ours) {
        isFirst =
          (await pauseChannel(tx, { channelId: id, code: SUSPENDED_FULL, reason, pausedBy: 'parley' }, now)) || isFirst;
      }
      return isFirst;
    });
    if (paused) {
      const fields = { partner, code: SUSPENDED_FULL, reason };
      this.logger.error(
        fields,
        'the partner is not read until it is resumed; its topics keep what is unread for a time',
      );
    }
    return paused !== undefined;
  }
}

/** Counts up to the limit and no further, over an index of what waits; nothing for a partner that is not suspended. */
const KEPT = `
  SELECT (SELECT count(*) FROM (SELECT 1 FROM parked_inbound WHERE state IN ('waiting', 'held') AND partner = s.id ORDER BY id LIMIT :most) k)::int AS count
  FROM partner s WHERE s.id = :partner AND s.state = 'suspended'`;
