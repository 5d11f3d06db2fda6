import type { Clock } from '../../../platform/clock';
import type { Database } from '../../../platform/database';
import { messageOf } from '../../../platform/errors';
import { BackgroundLoop, Wakeable } from '../../../platform/polling';
import type { Logger } from '../../../platform/telemetry';
import type { DrainReader } from './drain-reader';
import type { DrainSettler } from './drain-settler';
import { turnsLeft } from './drained';
import type { DueMessages } from './due-messages';

/** First and longest pause between two looks while nothing is due, ms. */
const PAUSE = { first: 25, last: 1_000 };
/** A turn that nobody has given by then was forgotten, ms. */
const TURN_GIVEN_MS = 2_000;
/** So many partners' messages are drained at once by one process. */
const AT_ONCE = 2;

export interface DrainParts {
  database: Database;
  due: DueMessages;
  reader: DrainReader;
  settler: DrainSettler;
}

/**
 * Tries parked messages again when they are due, from the table, never through Kafka. Any number of processes drain side by side: a key's first message is its
 * lock. Survives outages of the database: what is due then is due afterwards.
 */
export class Drain extends BackgroundLoop {
  private readonly wakeable = new Wakeable();
  private fault: string | undefined;

  constructor(
    private readonly parts: DrainParts,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    super();
  }

  /** Something may be due now: looks at once. */
  wake(): void {
    this.wakeable.wake();
  }

  override stop(): Promise<void> {
    const stopped = super.stop();
    this.wake();
    return stopped;
  }

  /** One sentence while parked messages can't be tried. */
  get trouble(): string | undefined {
    return this.fault;
  }

  protected async run(signal: AbortSignal): Promise<void> {
    for (let pause: number = PAUSE.first; !signal.aborted; pause = Math.min(PAUSE.last, pause * 2)) {
      try {
        if (await this.pass()) pause = PAUSE.first / 2;
        this.recovered();
      } catch (error) {
        this.failed(error);
      }
      if (pause >= PAUSE.first && (await this.wakeable.wait(pause))) pause = PAUSE.first / 2;
    }
  }

  /** Looks once at everything that is due; true: there was something. */
  async pass(): Promise<boolean> {
    const { database, due, settler } = this.parts;
    const now = this.clock.now();
    // One partner's trouble is not the others', nor is a turn's that can't be given now.
    const errors: unknown[] = [];
    const turns = await turnsLeft(database, new Date(now.getTime() - TURN_GIVEN_MS));
    await settler.turn(turns).catch((error: unknown) => void errors.push(error));
    const partners = await due.partners(now);
    let hadWork = turns.length > 0;
    const work = async () => {
      for (let partner = partners.shift(); partner !== undefined; partner = partners.shift()) {
        const had = await this.step(partner).catch((error: unknown) => void errors.push(error));
        if (had) hadWork = true;
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    if (errors.length > 0) throw errors[0];
    return hadWork;
  }

  private async step(partner: string): Promise<boolean> {
    const { reader, settler } = this.parts;
    if (this.isStopping) return false;
    try {
      const sequences = await reader.read(partner, this.clock.now());
      if (sequences && sequences.length > 0) await settler.settle(sequences);
      return sequences !== undefined;
    } finally {
      await reader.ended(partner);
    }
  }

  private failed(error: unknown): void {
    const reason = messageOf(error);
    // One line for an outage.
    if (!this.fault) this.logger.warn({ reason }, 'parked messages cannot be tried again now');
    this.fault = `parked messages cannot be tried again now: ${reason}`;
  }

  private recovered(): void {
    if (this.fault) this.logger.info('parked messages are tried again');
    this.fault = undefined;
  }
}
