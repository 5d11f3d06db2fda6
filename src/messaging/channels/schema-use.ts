import type { Clock } from '../../platform/clock';
import { type Database, query } from '../../platform/database';
import { messageOf } from '../../platform/errors';
import type { Logger } from '../../platform/telemetry';

/** A schema that records of a channel named. */
export interface SchemaInUse {
  partner: string;
  topic: string;
  /** CloudEvents type of the document. */
  type: string;
  schemaId: number;
  firstSeenAt: Date;
  lastSeenAt: Date;
}

/** Least time between two writes of the same use by one process, ms. */
const EVERY_MS = 60_000;
/** So many uses are remembered; beyond it they are forgotten, and written once more than needed. */
const MOST = 10_000;

interface Use {
  channelId: number;
  type: string;
  schemaId: number;
}

/**
 * What partners still use: which schema ids their records named, by channel and document. Kept beside the records'
 * transactions, not in them: a use that is lost is noted with the next record, and noting never fails or holds up a record.
 */
export class SchemaUse {
  private readonly notedAt = new Map<string, number>();
  private waiting: Use[] = [];
  private writing: Promise<void> | undefined;
  private failed = false;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** Every use that was ever noted, by topic, type and id. */
  static list(database: Database): Promise<SchemaInUse[]> {
    return database.query<SchemaInUse>(
      `SELECT c.partner, c.topic, s.type, s.schema_id AS "schemaId", s.first_seen_at AS "firstSeenAt", s.last_seen_at AS "lastSeenAt"
       FROM channel_schema s JOIN channel c ON c.id = s.channel_id ORDER BY c.topic, s.type, s.schema_id`,
    );
  }

  /** Written in the background, at most once a minute for the same use. */
  note(channelId: number, type: string, schemaId: number): void {
    const now = this.clock.now().getTime();
    const use = `${channelId} ${schemaId} ${type}`;
    if (now - (this.notedAt.get(use) ?? -Infinity) < EVERY_MS) return;
    if (this.notedAt.size >= MOST) this.notedAt.clear();
    this.notedAt.set(use, now);
    this.waiting.push({ channelId, type, schemaId });
    this.writing ??= this.write().finally(() => (this.writing = undefined));
  }

  private async write(): Promise<void> {
    while (this.waiting.length > 0) {
      const uses = this.waiting.splice(0);
      try {
        await this.save(uses, this.clock.now());
        this.failed = false;
      } catch (error) {
        // One line when it begins; the next minute tries again.
        if (!this.failed) this.logger.warn({ reason: messageOf(error) }, 'schema ids in use could not be noted');
        this.failed = true;
      }
    }
  }

  /** Sorted, so that processes that note the same wait for each other in one direction. */
  private save(uses: readonly Use[], now: Date): Promise<unknown> {
    return this.database.transaction((tx) =>
      query(
        tx,
        `INSERT INTO channel_schema AS s (channel_id, type, schema_id, first_seen_at, last_seen_at)
         SELECT DISTINCT c, t, i, :now::timestamptz, :now::timestamptz FROM unnest(:channelIds::int[], :types::text[], :schemaIds::int[]) u(c, t, i) ORDER BY c, t, i
         ON CONFLICT (channel_id, type, schema_id) DO UPDATE SET last_seen_at = greatest(s.last_seen_at, EXCLUDED.last_seen_at)`,
        {
          now,
          channelIds: uses.map(({ channelId }) => channelId),
          types: uses.map(({ type }) => type),
          schemaIds: uses.map(({ schemaId }) => schemaId),
        },
      ),
    );
  }
}
