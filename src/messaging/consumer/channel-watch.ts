import { messageOf } from '../../platform/errors';
import { BackgroundLoop, regularly } from '../../platform/polling';
import type { Logger } from '../../platform/telemetry';
import type { ChannelCatalog } from '../channels';

/** Notices new channels: polls the version of their set and tells the list of inbound topics whenever that has changed. */
export class ChannelWatch extends BackgroundLoop {
  /** What `onTopics` was told, and the version of the set that it came from. */
  private told: { version: bigint; topics: string } | undefined;

  constructor(
    private readonly channels: ChannelCatalog,
    private readonly onTopics: (topics: readonly string[]) => Promise<void>,
    private readonly logger: Logger,
    private readonly everyMs: number,
  ) {
    super();
  }

  /** A database that is not there yet is asked again. */
  protected run(signal: AbortSignal): Promise<void> {
    return regularly(() => this.look(), {
      everyMs: this.everyMs,
      signal,
      // The batches themselves say when the database is back.
      onFailure: (error) => this.logger.warn({ reason: messageOf(error) }, 'the set of channels could not be read'),
    });
  }

  private async look(): Promise<void> {
    // Not the catalogue's own version: others read it again too.
    if (this.told && (await this.channels.currentVersion()) === this.told.version) return;
    await this.channels.load();
    const { version } = this.channels;
    const topics = this.channels.inbound().map((channel) => channel.topic);
    const list = topics.sort().join('\n');
    if (this.told?.topics !== list) await this.onTopics(topics);
    this.told = { version, topics: list };
  }
}
