import type { Clock } from '../../../platform/clock';
import type { Database } from '../../../platform/database';
import { messageOf } from '../../../platform/errors';
import { BackgroundLoop, sweeping } from '../../../platform/polling';
import type { Logger } from '../../../platform/telemetry';
import type { ChannelCatalog } from '../../channels';
import type { KafkaAdmin } from '../../kafka';
import { deleteResolved, inboxBlocks, sweepInbox } from './sweeping';

export interface RetentionTimes {
  /** How long an id is remembered, ms. */
  inboxMs: number;
  /** How long a resolved message is kept, ms. */
  resolvedMs: number;
}

const DAY_MS = 86_400_000;
const EVERY_MS = 60_000;
/** The whole inbox is walked once in so many passes: half a day. */
const PASSES = 720;
/** Blocks of one statement, and resolved messages of one. */
const BLOCKS = 250;
const MESSAGES = 1_000;

/**
 * Forgets ids that can't come again, and messages that were resolved long ago. State before age: what is unresolved stays,
 * and the id of a message stays as long as the message. The inbox is walked block by block, a little each minute: an id is
 * looked at twice a day, at a cost that neither age nor backlog changes.
 */
export class Retention extends BackgroundLoop {
  private next = 0;
  private keeping: readonly string[] = [];

  constructor(
    private readonly database: Database,
    private readonly channels: ChannelCatalog,
    private readonly admin: Pick<KafkaAdmin, 'describeTopics'>,
    private readonly times: RetentionTimes,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    super();
  }

  /** One sentence, while topics keep records longer than we remember their ids. */
  get trouble(): string | undefined {
    const [first, ...others] = this.keeping;
    if (first === undefined) return undefined;
    const more = others.length > 0 ? `, and so do ${others.length} more` : '';
    return `${first}${more}; ids of these channels are not forgotten: have their retention.ms and segment.ms together a day shorter than INBOX_RETENTION_HOURS, or that longer.`;
  }

  /** Looks at its share of the inbox, and at what is resolved. */
  async pass(): Promise<{ ids: number; messages: number }> {
    const now = this.clock.now().getTime();
    const channels = await this.forgettable();
    const ids = channels.length > 0 ? await this.walk(channels, new Date(now - this.times.inboxMs)) : 0;
    let messages = 0;
    for (let last = MESSAGES; last === MESSAGES && !this.isStopping; messages += last) {
      last = await deleteResolved(this.database, new Date(now - this.times.resolvedMs), MESSAGES);
    }
    return { ids, messages };
  }

  protected run(signal: AbortSignal): Promise<void> {
    const pass = async () => {
      const { ids, messages } = await this.pass();
      if (ids + messages > 0) this.logger.info({ ids, messages }, 'what is past its time is forgotten');
    };
    return sweeping(pass, {
      everyMs: EVERY_MS,
      signal,
      onFailure: (error) =>
        this.logger.warn({ reason: messageOf(error) }, 'nothing could be forgotten; tried again each minute'),
    });
  }

  private async walk(channels: readonly number[], before: Date): Promise<number> {
    const blocks = await inboxBlocks(this.database);
    if (this.next >= blocks) this.next = 0;
    const end = Math.min(blocks, this.next + Math.max(BLOCKS, Math.ceil(blocks / PASSES)));
    let forgotten = 0;
    for (; this.next < end && !this.isStopping; this.next += BLOCKS) {
      forgotten += await sweepInbox(
        this.database,
        { from: this.next, to: Math.min(end, this.next + BLOCKS) },
        channels,
        before,
      );
    }
    return forgotten;
  }

  /** Channels whose topics keep nothing as long as ids are kept, and a day. What the broker doesn't say is not assumed. */
  private async forgettable(): Promise<number[]> {
    const inbound = this.channels.inbound();
    const topics = await this.admin.describeTopics(inbound.map(({ topic }) => topic));
    const keeping: string[] = [];
    const channels = inbound.filter(({ topic }) => {
      const keeps = topics.get(topic)?.keepsMs;
      if (keeps === undefined) return false;
      if (keeps + DAY_MS <= this.times.inboxMs) return true;
      keeping.push(
        `${topic} keeps records ${keeps === Infinity ? 'for ever' : `for ${Math.round(keeps / 3_600_000)} hours`}`,
      );
      return false;
    });
    for (const finding of keeping) {
      if (!this.keeping.includes(finding)) this.logger.warn({ code: 'topic-retention' }, finding);
    }
    this.keeping = keeping;
    return channels.map(({ id }) => id);
  }
}
