import type { Config } from '../../platform/config';
import { type Database, IndexedReader } from '../../platform/database';
import { messageOf } from '../../platform/errors';
import { BackgroundLoop, nowAndThen } from '../../platform/polling';
import type { GaugeBoard, Logger } from '../../platform/telemetry';

const EVERY_MS = 15_000;
const SAME = 'Of the whole installation, so the same in every process.';

interface Readings {
  parked: { state: string; count: number }[];
  dead: { topic: string; count: number; oldest: Date }[];
}

/** Counts failures for the gauges: from indexes alone, so that what is resolved costs nothing. */
export class FailureCounts extends BackgroundLoop {
  private readonly indexes: IndexedReader;
  private readings: Readings | undefined;

  constructor(
    database: Database,
    board: GaugeBoard,
    private readonly config: Pick<Config, 'roles'>,
    private readonly logger: Logger,
  ) {
    super();
    this.indexes = new IndexedReader(database);
    board.gauges('parley_parked_messages', `Messages that wait, by why. ${SAME}`, ['direction', 'state'], () =>
      (this.readings?.parked ?? []).map(({ state, count }) => ({ labels: { direction: 'in', state }, value: count })),
    );
    board.gauges('parley_dead_letters_open', `Dead letters that need somebody. ${SAME}`, ['topic'], () =>
      (this.readings?.dead ?? []).map(({ topic, count }) => ({ labels: { topic }, value: count })),
    );
    board.gauges(
      'parley_dead_letter_oldest_age_seconds',
      `Age of the oldest open dead letter, since it failed last; 0 where there is none. ${SAME}`,
      [],
      () => (this.readings ? [{ labels: {}, value: ageOf(this.readings) }] : []),
    );
  }

  /** Counts once. */
  async count(): Promise<void> {
    const found = await this.indexes.rows<Readings['parked'][number]>(
      `SELECT state, count(*)::int AS count FROM parked_inbound WHERE state IN ('waiting', 'held') GROUP BY 1`,
    );
    const parked = ['waiting', 'held'].map((state) => found.find((row) => row.state === state) ?? { state, count: 0 });
    const dead = await this.indexes.rows<Readings['dead'][number]>(
      `SELECT topic, count(*)::int AS count, coalesce(min(last_failed_at), now()) AS oldest FROM parked_inbound WHERE state = 'dead' GROUP BY 1`,
    );
    this.readings = { parked, dead };
  }

  protected async run(signal: AbortSignal): Promise<void> {
    if (this.config.roles.every((role) => role === 'relay')) return;
    await nowAndThen(() => this.count(), {
      everyMs: EVERY_MS,
      signal,
      // The database may not be there yet, and says so itself.
      onFailure: (error) => this.logger.debug({ reason: messageOf(error) }, 'failures could not be counted'),
    });
  }
}

const ageOf = ({ dead }: Readings): number =>
  dead.length === 0 ? 0 : Math.max(0, Date.now() - Math.min(...dead.map(({ oldest }) => oldest.getTime()))) / 1000;
