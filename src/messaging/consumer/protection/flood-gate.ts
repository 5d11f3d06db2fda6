import type { Clock } from '../../../platform/clock';
import type { Database } from '../../../platform/database';
import { messageOf } from '../../../platform/errors';
import { BackgroundLoop, regularly } from '../../../platform/polling';
import type { Logger } from '../../../platform/telemetry';
import type { Channel, ChannelCatalog } from '../../channels';
import type { InboundRecord } from '../../kafka';
import { type ChannelPause, SUSPENDED_FULL, pauseChannel, pausedChannels } from './channel-pauses';
import type { KeptLimit } from './kept-limit';
import type { UnreadRecords } from './unread-records';

/** Dead letters that a channel may have before it is paused. */
export interface FloodLimits {
  /** New ones within a minute. */
  perMinute: number;
  /** Open ones that no replay has sent, since staff let it go on last. */
  open: number;
}

/** What a gate has beside its own limits. */
export interface GateParts {
  /** Of suspended partners. */
  kept?: KeptLimit;
  unread?: UnreadRecords;
}

const LOOK_MS = 1_000;
const MINUTE_MS = 60_000;

/**
 * Pauses a channel on which too much dies, the one exception to "poison never stops a partition": garbage without end would fill
 * the database, and nobody could look at it. Obeys pauses of staff as well. What counts is in the table, so that all processes
 * count together; a channel on which nothing dies costs nothing.
 */
export class FloodGate extends BackgroundLoop {
  private readonly deaths = new Map<string, number>();
  private readonly lookEvery: number;
  private paused: ReadonlyMap<number, ChannelPause> = new Map();

  constructor(
    private readonly database: Database,
    private readonly channels: ChannelCatalog,
    private readonly limits: FloodLimits,
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly parts: GateParts = {},
  ) {
    super();
    this.lookEvery = Math.max(1, Math.floor(Math.min(limits.perMinute, limits.open) / 10));
  }

  /** A message of this topic died in this process. */
  died(topic: string): void {
    this.deaths.set(topic, (this.deaths.get(topic) ?? 0) + 1);
  }

  /**
   * Undefined: read on. Else why the channel is not read now, one sentence. Rejects when the database can't say.
   * @param oldest the first record that is not read then
   */
  async closed(channel: Channel, oldest?: InboundRecord): Promise<string | undefined> {
    const { kept, unread } = this.parts;
    if (!this.paused.has(channel.id)) {
      if ((this.deaths.get(channel.topic) ?? 0) >= this.lookEvery) await this.count(channel);
      if (kept?.isDue(channel)) await this.countKept(channel.partner, kept);
    }
    const pause = this.paused.get(channel.id);
    if (pause && oldest) unread?.note(oldest);
    return pause && sentenceOf(channel.topic, pause);
  }

  /** Topics that are not read for now. */
  get pausedTopics(): string[] {
    return this.channels
      .inbound()
      .filter(({ id }) => this.paused.has(id))
      .map(({ topic }) => topic);
  }

  /** Until when the broker keeps what is unread on paused channels, as far as that is known. */
  get unreadKeptUntil(): { topic: string; until: Date }[] {
    return this.channels.inbound().flatMap(({ id, topic }) => {
      const until = this.paused.get(id)?.keptUntil;
      return until ? [{ topic, until }] : [];
    });
  }

  /** One sentence with what to do, while a channel is paused. */
  get trouble(): string | undefined {
    const [first, ...others] = this.channels.inbound().filter(({ id }) => this.paused.has(id));
    const pause = first && this.paused.get(first.id);
    if (!pause) return undefined;
    const more = others.length > 0 ? ` (and ${others.length} more channels are paused)` : '';
    return `${sentenceOf(first.topic, pause)}${more}`;
  }

  protected run(signal: AbortSignal): Promise<void> {
    return regularly(() => this.look(), {
      everyMs: LOOK_MS,
      signal,
      onFailure: (error) => this.logger.warn({ reason: messageOf(error) }, 'pauses of channels could not be read'),
    });
  }

  private async look(): Promise<void> {
    const before = this.paused;
    if (!(await this.readPauses())) return;
    for (const channel of this.channels.inbound()) {
      if (before.has(channel.id) && !this.paused.has(channel.id)) {
        this.logger.info({ topic: channel.topic }, 'the channel is read again');
      }
      if (this.deaths.has(channel.topic) && !this.paused.has(channel.id)) await this.count(channel);
    }
    const { kept, unread } = this.parts;
    for (const partner of kept?.toCount ?? []) if (kept) await this.countKept(partner, kept);
    await unread?.look(this.paused);
  }

  private async countKept(partner: string, kept: KeptLimit): Promise<void> {
    if (!(await kept.count(partner, this.clock.now()))) return;
    // Its own are to be among them before anything more is read.
    while (!(await this.readPauses()));
  }

  /** False: a pause was written meanwhile, which may not be among those that were read, and its channel would be read on; nothing has changed. */
  private async readPauses(): Promise<boolean> {
    const before = this.paused;
    const pauses = await pausedChannels(this.database);
    if (this.paused !== before) return false;
    this.paused = new Map(pauses.map((pause) => [pause.channelId, pause]));
    return true;
  }

  private async count(channel: Channel): Promise<void> {
    const { perMinute, open } = this.limits;
    const now = this.clock.now();
    this.deaths.delete(channel.topic);
    const [dead] = await this.database.query<{ minute: number; open: number }>(DEATHS, {
      ...{ channelId: channel.id, minuteAgo: new Date(now.getTime() - MINUTE_MS) },
      ...{ perMinute: perMinute + 1, most: open + 1 },
    });
    if (!dead || (dead.minute <= perMinute && dead.open <= open)) return;
    const what =
      dead.minute > perMinute
        ? `more than ${perMinute} messages died within a minute`
        : `more than ${open} dead letters are open`;
    const pause = { channelId: channel.id, code: 'flood', reason: what, pausedBy: 'parley' };
    const isFirst = await this.database.transaction((tx) => pauseChannel(tx, pause, now));
    this.paused = new Map([...this.paused, [channel.id, { ...pause, since: now, keptUntil: null }]]);
    if (isFirst) {
      const fields = { topic: channel.topic, partner: channel.partner, code: 'channel-flooded', reason: what };
      this.logger.error(fields, 'the channel is paused until staff resume it; nothing is lost');
    }
  }
}

/**
 * Counts up to the bounds and no further, over an index of the dead alone (in its order, or the planner may read the table): a million of them cost what the bound costs.
 * What a replay failed with again is nothing new, and no reason to stop what the partner sends now.
 */
export const DEATHS = `
  SELECT (SELECT count(*) FROM (SELECT 1 FROM parked_inbound WHERE channel_id = :channelId AND state = 'dead'
            AND last_failed_at > greatest(a.since, :minuteAgo::timestamptz) AND replay_id IS NULL
            ORDER BY last_failed_at LIMIT :perMinute) m)::int AS minute,
         (SELECT count(*) FROM (SELECT 1 FROM parked_inbound WHERE channel_id = :channelId AND state = 'dead'
            AND last_failed_at > a.since AND replay_id IS NULL ORDER BY last_failed_at LIMIT :most) o)::int AS open
  FROM (SELECT coalesce((SELECT since FROM channel_allowance WHERE channel_id = :channelId), '-infinity') AS since) a`;

const REMEDIES: Readonly<Record<string, string>> = {
  flood: 'look at its failures, have them mended, then resume the channel',
  [SUSPENDED_FULL]: 'it is read on when the partner is resumed',
};

function sentenceOf(topic: string, { code, reason, since, pausedBy, keptUntil }: ChannelPause): string {
  const remedy = REMEDIES[code] ?? 'resume the channel to read on';
  const until = keptUntil ? `; the broker keeps what is unread until ${keptUntil.toISOString()}` : '';
  return `${topic} is not read since ${since.toISOString()}: ${reason} (paused by ${pausedBy}); ${remedy}${until}.`;
}
