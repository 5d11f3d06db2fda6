import { sleep } from '../../platform/polling';
import type { Provider } from '../channels/provider';
import type { NotificationKind } from '../domain/kind';
import type { Claimed, Claims } from './claims';
import type { Assignment } from './sender';

/** A bucket that is empty for longer than that is looked at with the next poll, ms. */
const LONGEST_WAIT_MS = 1_000;

export interface LaneParts {
  name: string;
  provider: Provider;
  claims: Claims;
  kinds: readonly NotificationKind[];
  leaseMs: number;
  /** Places of this lane now. */
  slots: (inFlight: number) => number;
  deal: (assignment: Assignment) => Promise<void>;
  /** Aborts when nothing new is to be claimed. */
  signal: AbortSignal;
}

/** What one process sends through one provider: as many at once as it has places, claimed when a place is free. */
export class ProviderLane {
  private readonly inFlight = new Set<Promise<void>>();
  private draining: Promise<void> | undefined;

  constructor(private readonly parts: LaneParts) {}

  get isIdle(): boolean {
    return !this.draining && this.inFlight.size === 0;
  }

  get size(): number {
    return this.inFlight.size;
  }

  /** Takes what is due until nothing is; while that goes on, another call is the same. Rejects when the database does. */
  drain(): Promise<void> {
    this.draining ??= this.claimAll().finally(() => (this.draining = undefined));
    return this.draining;
  }

  /** Resolves when all that was begun has ended. */
  async ended(): Promise<void> {
    await this.draining?.catch(() => undefined);
    await Promise.all(this.inFlight);
  }

  private async claimAll(): Promise<void> {
    const { signal, slots, name, provider } = this.parts;
    let isKnown = false;
    while (!signal.aborted) {
      const places = slots(this.inFlight.size);
      if (places <= 0) {
        if (this.inFlight.size === 0) return;
        await Promise.race(this.inFlight);
        continue;
      }
      const caught = await this.claim(places);
      if (!caught) {
        // Disabled, or never used before.
        if (isKnown) return;
        await this.parts.claims.introduce(name, provider.channel);
        isKnown = true;
        continue;
      }
      if (caught.count < places) {
        if (caught.waitMs <= 0 || caught.waitMs > LONGEST_WAIT_MS) return;
        await sleep(caught.waitMs, signal);
      }
    }
  }

  private async claim(places: number): Promise<{ count: number; waitMs: number } | undefined> {
    const { claims, name: provider, kinds, leaseMs } = this.parts;
    const { perSecond } = this.parts.provider;
    const caught = await claims.claim({
      provider,
      slots: places,
      perSecond,
      leaseMs,
      kinds: kinds.map(({ name }) => name),
    });
    if (!caught) return undefined;
    const heard = performance.now();
    const now = () => new Date(caught.at.getTime() + performance.now() - heard);
    for (const claimed of caught.claimed) {
      const kind = kinds.find(({ name }) => name === claimed.kind);
      // Stopped while it was claimed: nothing is begun any more.
      const work =
        !kind || this.parts.signal.aborted
          ? this.giveBack(claimed, caught.trial)
          : this.parts.deal({ claimed, kind, provider: this.parts.provider, trial: caught.trial, now });
      const tracked: Promise<void> = work.catch(() => undefined).finally(() => this.inFlight.delete(tracked));
      this.inFlight.add(tracked);
    }
    return { count: caught.claimed.length, waitMs: caught.waitMs };
  }

  private async giveBack(claimed: Claimed, trial: boolean): Promise<void> {
    await this.parts.claims.giveBack(claimed);
    // Otherwise nobody would try that provider for a lease.
    if (trial) await this.parts.claims.endTrial(claimed.provider);
  }
}
