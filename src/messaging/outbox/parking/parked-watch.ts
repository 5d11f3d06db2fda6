import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import type { Clock } from '../../../platform/clock';
import type { Database } from '../../../platform/database';
import { sleep } from '../../../platform/polling';
import type { GaugeBoard } from '../../../platform/telemetry';
import type { Relay } from '../relay';
import { type ParkedCounts, parkedCounts } from './outbox-status';

const EVERY_MS = 15_000;
/** Counting takes at most this part of a connection's time, however much is parked. */
const SHARE = 0.01;

/** Counts parked messages for the gauges, in the process that owns the outbox: the others show none. */
export class ParkedWatch implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly stopping = new AbortController();
  private running: Promise<void> = Promise.resolve();
  private known: ParkedCounts | undefined;

  constructor(
    private readonly database: Database,
    private readonly relay: Relay | null,
    board: GaugeBoard,
    clock: Clock,
  ) {
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

  onApplicationBootstrap(): void {
    if (this.relay) this.running = this.run();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  /** Counts once, in the owner. */
  async count(): Promise<void> {
    if (this.relay?.state.role === 'owner') this.known = await parkedCounts(this.database);
  }

  private get counts(): ParkedCounts | undefined {
    return this.relay?.state.role === 'owner' ? this.known : undefined;
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      const began = performance.now();
      // The database's trouble is told by others; the last count stands meanwhile.
      await this.count().catch(() => undefined);
      await sleep(this.known ? Math.max(EVERY_MS, (performance.now() - began) / SHARE) : 1000, signal);
    }
  }
}
