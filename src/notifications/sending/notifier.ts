import { messageOf } from '../../platform/errors';
import { sleep } from '../../platform/polling';
import type { Logger } from '../../platform/telemetry';
import type { Provider } from '../channels/provider';
import type { NotificationKind } from '../domain/kind';
import type { Claims } from './claims';
import { ProviderLane } from './provider-lane';
import type { Sender } from './sender';
import type { Upkeep } from './upkeep';

/** Between two looks for what is due: while there was something, and when nothing has been for a while. */
const POLL = { busyMs: 250, idleMs: 1_000 };
/** Webhooks are a provider each: so many times its places are in use at once for one channel. */
const LANES_PER_CHANNEL = 32;

export interface NotifierParts {
  claims: Claims;
  sender: Sender;
  upkeep: Pick<Upkeep, 'run'>;
  /** Of the providers; when nothing is sent any more. */
  close?: () => Promise<unknown>;
  /** By the name in a notification's row; undefined where this installation has none, and what waits for it goes on waiting. */
  providerFor: (name: string) => Provider | undefined;
  kinds: readonly NotificationKind[];
  concurrency: number;
  leaseMs: number;
  log: Logger;
}

/**
 * Sends what is due, whatever process made it. Any number may run side by side: a claim decides who has what. Each provider has a lane of its own,
 * so one that is slow or closed holds nothing of the others up.
 */
export class Notifier {
  private readonly lanes = new Map<string, ProviderLane>();
  private readonly aborter = new AbortController();
  private readonly missing = new Set<string>();
  private running: Promise<unknown> | undefined;
  private failure: string | undefined;

  constructor(private readonly parts: NotifierParts) {}

  /** For health: undefined while all goes well. */
  get trouble(): string | undefined {
    return this.failure && `notifications wait: ${this.failure}`;
  }

  /** @param signal behind it nothing more is claimed */
  start(signal?: AbortSignal): void {
    signal?.addEventListener('abort', () => this.aborter.abort());
    if (signal?.aborted) this.aborter.abort();
    this.running ??= Promise.all([this.run(), this.parts.upkeep.run(this.aborter.signal)]);
  }

  /** Claims nothing more; resolves when what was begun has ended. What was claimed and not begun is given back. */
  async stop(): Promise<void> {
    this.aborter.abort();
    await this.running;
    await Promise.all([...this.lanes.values()].map((lane) => lane.ended()));
    await this.parts.close?.();
  }

  private async run(): Promise<void> {
    const { signal } = this.aborter;
    let pause = POLL.idleMs;
    while (!signal.aborted) {
      try {
        pause = (await this.look()) ? POLL.busyMs : Math.min(POLL.idleMs, pause * 1.5);
        if (this.failure) this.parts.log.info('notifications are sent again');
        this.failure = undefined;
      } catch (error) {
        this.fail(error);
        pause = POLL.idleMs;
      }
      // Random, so that the processes of an installation don't look at once.
      await sleep(pause * (0.75 + Math.random() / 2), signal);
    }
  }

  /** Wakes the lanes of all providers that have something due; false when none has. */
  private async look(): Promise<boolean> {
    const due = await this.parts.claims.due();
    for (const [name, lane] of this.lanes) if (lane.isIdle) this.lanes.delete(name);
    for (const name of due) {
      const lane = this.laneOf(name);
      if (lane) void lane.drain().catch((error: unknown) => this.fail(error));
    }
    return due.length > 0;
  }

  private laneOf(name: string): ProviderLane | undefined {
    const known = this.lanes.get(name);
    if (known) return known;
    const provider = this.parts.providerFor(name);
    if (!provider) {
      this.missingProvider(name);
      return undefined;
    }
    const { claims, kinds, leaseMs, sender } = this.parts;
    const lane = new ProviderLane({
      ...{ name, provider, claims, kinds, leaseMs, signal: this.aborter.signal },
      slots: (inFlight) => this.placesFor(provider, inFlight),
      deal: (assignment) => sender.deal(assignment),
    });
    this.lanes.set(name, lane);
    return lane;
  }

  private placesFor({ channel }: Provider, inFlight: number): number {
    const { concurrency } = this.parts;
    let together = 0;
    for (const [name, lane] of this.lanes)
      if (name === channel || name.startsWith(`${channel}/`)) together += lane.size;
    return Math.min(concurrency - inFlight, concurrency * LANES_PER_CHANNEL - together);
  }

  private missingProvider(name: string): void {
    const [channel = name] = name.split('/');
    if (this.missing.has(channel)) return;
    this.missing.add(channel);
    this.parts.log.warn(
      { code: 'provider-not-configured', channel },
      'notifications wait for a provider that is not configured; they go on waiting until they expire',
    );
  }

  /** Said once: that the database is away, others say too. */
  private fail(error: unknown): void {
    const reason = messageOf(error);
    if (!this.failure && !this.aborter.signal.aborted)
      this.parts.log.warn({ reason }, 'notifications can not be sent now; they wait');
    this.failure = reason;
  }
}
