import { type AnyContract, topicFor } from '../../contracts';
import { type Database, query, type Tx } from '../../platform/database';
import { NonRetriableError } from '../../platform/errors';
import type { Channel } from './channel';

const COLUMNS =
  'id, partner, topic, direction, format, partitions, max_message_bytes AS "maxMessageBytes", allow_missing_id AS "allowMissingId"';

/** The channels in memory. A channel never changes once made, but for the size of its messages, which grows; so a stale copy lacks new ones or is stricter. A miss reads again. */
export class ChannelCatalog {
  private byTopic = new Map<string, Channel>();
  private loadedVersion = 0n;

  constructor(private readonly database: Database) {}

  /** Version of the set of channels in the database; grows with every change. */
  async currentVersion(): Promise<bigint> {
    const [row] = await this.database.query<{ version: string }>('SELECT version FROM channel_version');
    return BigInt(row?.version ?? 0);
  }

  /** The version that {@link load} saw last. */
  get version(): bigint {
    return this.loadedVersion;
  }

  async load(): Promise<void> {
    // The version is read first: a change in between makes the copy newer than its number, never older.
    const version = await this.currentVersion();
    const rows = await this.database.query<Channel>(`SELECT ${COLUMNS} FROM channel`);
    this.byTopic = new Map(rows.map((row) => [row.topic, row]));
    this.loadedVersion = version;
  }

  all(): Channel[] {
    return [...this.byTopic.values()];
  }

  inbound(): Channel[] {
    return this.all().filter((channel) => channel.direction === 'in');
  }

  find(topic: string): Channel | undefined {
    return this.byTopic.get(topic);
  }

  /** The channel on which this partner gets or sends the document. Throws `channel-unknown` when there is none. */
  async of(contract: AnyContract, partner: string): Promise<Channel> {
    const topic = topicFor(contract, partner);
    if (!this.byTopic.has(topic)) await this.load();
    const channel = this.byTopic.get(topic);
    if (channel) return channel;
    throw new NonRetriableError('channel-unknown', `Partner ${partner} has no channel ${topic}.`, {
      hint: `Add the partner with "parley partner add ${partner}".`,
    });
  }
}

/** Adds channels in the caller's transaction (the partners room does) and moves the version, under which running consumers notice. */
export async function addChannels(tx: Tx, channels: readonly Omit<Channel, 'id'>[], now: Date): Promise<void> {
  for (const channel of channels) {
    await query(
      tx,
      `INSERT INTO channel (partner, topic, direction, format, partitions, max_message_bytes, allow_missing_id, created_at)
       VALUES (:partner, :topic, :direction, :format, :partitions, :maxMessageBytes, :allowMissingId, :now)
       ON CONFLICT (topic) DO NOTHING`,
      { ...channel, now },
    );
  }
  await query(tx, 'UPDATE channel_version SET version = version + 1');
}

/**
 * Lets a channel take larger messages; never smaller ones: a copy of the channel in memory may be old, and what it lets in must stay
 * sendable. Its topic takes them already.
 */
export async function widenChannel(tx: Tx, topic: string, maxMessageBytes: number): Promise<void> {
  await query(
    tx,
    'UPDATE channel SET max_message_bytes = :maxMessageBytes WHERE topic = :topic AND max_message_bytes < :maxMessageBytes',
    { topic, maxMessageBytes },
  );
  await query(tx, 'UPDATE channel_version SET version = version + 1');
}
