import { Wakeable } from '../../platform/polling';
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
  /** Resolves with false where the provider was not asked. */
  deal: (assignment: Assignment) => Promise<boolean>;
  /** Aborts when nothing new is to be claimed. */
  signal: AbortSignal;
}

/** What one process sends through one provider: as many at once as it has places, claimed when a place is free. */
export class ProviderLane {
  private readonly inFlight = new Set<Promise<void>>();
  private draining: Promise<void> | undefined;
  /** Tokens of what was not sent; for the next claim. */
  private unused = 0;
  private readonly tokens = new Wakeable();

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
      // What it told is heard at once. Where it told nothing, the next one may.
      if (caught.trial) await caught.trial;
      else if (caught.count < places) {
        if (caught.waitMs <= 0 || caught.waitMs > LONGEST_WAIT_MS) return;
        await this.pause(caught.waitMs);
      }
    }
  }

  /** Until the bucket holds a token again, by time or since one was not used. */
  private async pause(ms: number): Promise<void> {
    const { signal } = this.parts;
    if (signal.aborted) return;
    const wake = (): void => this.tokens.wake();
    signal.addEventListener('abort', wake);
    await this.tokens.wait(ms);
    signal.removeEventListener('abort', wake);
  }

  private async claim(
    places: number,
  ): Promise<{ count: number; waitMs: number; trial: Promise<void> | undefined } | undefined> {
    const { claims, name: provider, kinds, leaseMs } = this.parts;
    const { perSecond } = this.parts.provider;
    const { unused } = this;
    const names = kinds.map(({ name }) => name);
    const caught = await claims.claim({ provider, slots: places, perSecond, leaseMs, kinds: names, unused });
    if (!caught) return undefined;
    // They were written with what was claimed.
    if (caught.claimed.length > 0) this.unused -= unused;
    let trial: Promise<void> | undefined;
    const heard = performance.now();
    const now = () => new Date(caught.at.getTime() + performance.now() - heard);
    for (const claimed of caught.claimed) {
      const kind = kinds.find(({ name }) => name === claimed.kind);
      // Stopped while it was claimed: nothing is begun any more.
      const work =
        !kind || this.parts.signal.aborted
          ? this.giveBack(claimed, caught.trial)
          : this.parts.deal({ claimed, kind, provider: this.parts.provider, trial: caught.trial, now });
      const tracked: Promise<void> = work
        .then((asked) => {
          if (!asked) this.returnToken();
        })
        .catch(() => undefined)
        .finally(() => this.inFlight.delete(tracked));
      this.inFlight.add(tracked);
      if (caught.trial) trial = tracked;
    }
    return { count: caught.claimed.length, waitMs: caught.waitMs, trial };
  }

  private returnToken(): void {
    this.unused += 1;
    this.tokens.wake();
  }

  private async giveBack(claimed: Claimed, trial: Date | null): Promise<false> {
    await this.parts.claims.giveBack(claimed);
    // Otherwise nobody would try that provider for a lease.
    if (trial) await this.parts.claims.endTrial(claimed.provider, trial);
    return false;
  }
}
