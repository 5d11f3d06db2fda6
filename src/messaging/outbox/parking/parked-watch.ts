import type { Clock } from '../../../platform/clock';
import type { Database } from '../../../platform/database';
import { BackgroundLoop, nowAndThen, sleep } from '../../../platform/polling';
import type { GaugeBoard } from '../../../platform/telemetry';
import type { Relay } from '../relay';
import { type ParkedCounts, parkedCounts } from './outbox-status';

const EVERY_MS = 15_000;
/** Whoever comes to own the outbox looks soon. */
const STANDBY_MS = 1_000;

/** Counts parked messages for the gauges, in the process that owns the outbox: the others show none. */
export class ParkedWatch extends BackgroundLoop {
  private known: ParkedCounts | undefined;

  constructor(
    private readonly database: Database,
    private readonly relay: Relay | null,
    board: GaugeBoard,
    clock: Clock,
  ) {
    super();
    if (!relay) return;
    board.gauges(
      'parley_parked_messages',
      'Messages that wait, by why; outbound ones are shown by the owner of the outbox.',
      ['direction', 'state'],
      () =>
        (['waiting', 'held', 'dead', 'retrying'] as const).flatMap((state) =>
          this.counts ? [{ labels: { direction: 'out', state }, value: this.counts[state] }] : [],
        ),
    );
    board.gauges(
      'parley_outbox_parked_lanes',
      'Lanes whose messages wait in the database, by why; shown by the owner of the outbox.',
      ['code'],
      () =>
        [...Map.groupBy(relay.state.parkedLanes, ({ code }) => code)].map(([code, lanes]) => {
          return { labels: { code }, value: lanes.length };
        }),
    );
    board.gauges(
      'parley_outbox_oldest_parked_age_seconds',
      'Age of the oldest parked message, which parley_outbox_oldest_pending_age_seconds no longer counts; 0 where none is.',
      [],
      () => {
        const oldest = this.counts?.oldest?.getTime();
        const age = oldest === undefined ? 0 : Math.max(0, clock.now().getTime() - oldest) / 1000;
        return this.counts ? [{ labels: {}, value: age }] : [];
      },
    );
  }

  /** Counts once, in the owner. */
  async count(): Promise<void> {
    if (this.owns) this.known = await parkedCounts(this.database);
  }

  private get owns(): boolean {
    return this.relay?.state.role === 'owner';
  }

  private get counts(): ParkedCounts | undefined {
    return this.owns ? this.known : undefined;
  }

  protected async run(signal: AbortSignal): Promise<void> {
    if (!this.relay) return;
    while (!this.owns && !signal.aborted) await sleep(STANDBY_MS, signal);
    // The database's trouble is told by others; the last count stands meanwhile.
    await nowAndThen(() => this.count(), { everyMs: EVERY_MS, signal });
  }
}
