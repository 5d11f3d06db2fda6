import type { Database } from '../../platform/database';
import { type KafkaAdmin, type PartitionProgress } from '../kafka';

/** How far answers on a topic have been read, and their deadlines judged. */
export interface ReplyMark {
  topic: string;
  readUpTo: Date | null;
  judgedUpTo: Date | null;
}

interface Sample {
  at: Date;
  ends: ReadonlyMap<number, bigint>;
}

/**
 * Until when topics have been read. A sample of a topic's ends, taken at t: when the group has committed that far in every partition
 * (a partner's record may lie in any of them), all that was written before t has a recorded outcome, since the commit follows it. Where
 * the broker or the group says nothing the mark stays where it is: not known is not read.
 */
export class ReplyWatch {
  private readonly pending = new Map<string, Sample>();

  constructor(
    private readonly database: Database,
    private readonly admin: Pick<KafkaAdmin, 'groupProgress'>,
    private readonly group: string,
  ) {}

  /** Marks as the database has them: of any process, and of this one before its restart. */
  static marks(database: Database, topics: readonly string[]): Promise<ReplyMark[]> {
    return database.query<ReplyMark>(
      `SELECT topic, read_up_to AS "readUpTo", judged_up_to AS "judgedUpTo" FROM reply_watch WHERE topic = ANY(:topics::text[])`,
      { topics },
    );
  }

  /** Asks how far these topics have been read, and notes it. Rejects when broker or database can't be asked. */
  async look(topics: readonly string[], now: Date): Promise<ReplyMark[]> {
    const sampledAt = await this.byDatabase(now);
    const progress = await this.progressOf(topics);
    const read = topics.flatMap((topic) => {
      const at = this.readUpTo(topic, progress.get(topic), sampledAt);
      return at ? [{ topic, at }] : [];
    });
    if (read.length > 0) await this.note('read_up_to', read);
    return ReplyWatch.marks(this.database, topics);
  }

  /**
   * When the sample is taken: never later than the database's clock says. Where this machine's runs ahead, what is written between the two would
   * otherwise seem read as soon as the sample is reached.
   */
  private async byDatabase(now: Date): Promise<Date> {
    const [row] = await this.database.query<{ at: Date }>('SELECT least(:now::timestamptz, clock_timestamp()) AS at', {
      now,
    });
    return row?.at ?? now;
  }

  /** A topic about which nobody can say anything (a partition has no leader) keeps no other partner's deadlines from being judged. */
  private async progressOf(topics: readonly string[]): ReturnType<KafkaAdmin['groupProgress']> {
    try {
      return await this.admin.groupProgress(this.group, topics);
    } catch (error) {
      if (topics.length < 2) throw error;
      const alone = await Promise.allSettled(topics.map((topic) => this.admin.groupProgress(this.group, [topic])));
      const told = alone.filter((answer) => answer.status === 'fulfilled').map(({ value }) => value);
      if (told.length === 0) throw error;
      return new Map(told.flatMap((answer) => [...answer]));
    }
  }

  /** All exchanges whose `look_at` is before `at` have been looked at. */
  async judged(topic: string, at: Date): Promise<void> {
    await this.note('judged_up_to', [{ topic, at }]);
  }

  private readUpTo(
    topic: string,
    progress: ReadonlyMap<number, PartitionProgress> | undefined,
    now: Date,
  ): Date | undefined {
    if (!progress || progress.size === 0) return undefined;
    const sample: Sample = { at: now, ends: new Map([...progress].map(([partition, { end }]) => [partition, end])) };
    const earlier = this.pending.get(topic);
    const reached = isRead(sample, progress) ? sample : earlier && isRead(earlier, progress) ? earlier : undefined;
    // One sample at a time: the next is taken when this one is reached.
    if (reached === sample) this.pending.delete(topic);
    else if (reached || !earlier) this.pending.set(topic, sample);
    return reached?.at;
  }

  /** Never later than the database's clock: a machine whose own runs ahead would have deadlines passed over that are yet to come. */
  private async note(
    column: 'read_up_to' | 'judged_up_to',
    marks: readonly { topic: string; at: Date }[],
  ): Promise<void> {
    await this.database.statement(
      `INSERT INTO reply_watch AS w (topic, ${column}) SELECT t, least(a, now()) FROM unnest(:topics::text[], :ats::timestamptz[]) u(t, a) ORDER BY t
       ON CONFLICT (topic) DO UPDATE SET ${column} = greatest(w.${column}, EXCLUDED.${column})`,
      { topics: marks.map(({ topic }) => topic), ats: marks.map(({ at }) => at) },
    );
  }
}

/** What retention has removed can't be read any more, and a partition that never had a record has no commit. */
function isRead({ ends }: Sample, progress: ReadonlyMap<number, PartitionProgress>): boolean {
  return [...ends].every(([partition, end]) => {
    const now = progress.get(partition);
    if (!now) return false;
    const read = now.committed === null || now.committed < now.start ? now.start : now.committed;
    return read >= end;
  });
}
