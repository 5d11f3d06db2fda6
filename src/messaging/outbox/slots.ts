import type { LanePublisher } from '../kafka';
import type { Lane } from './lane';

/** One broker: at most one send to it is outstanding, whatever the number of lanes. */
interface Slot {
  busy: boolean;
  ready: Lane[];
}

/**
 * One client and the lines before its brokers. kafkajs' idempotent producer never runs two sends to a broker side by side; a
 * lane that hands over its rows early would freeze a tiny batch in that queue. So a lane waits in its broker's line, and its
 * batch is cut when its turn comes: the longer the line, the larger the batches.
 */
export class Slots {
  private readonly byBroker = new Map<number, Slot>();

  /** @param send never rejects */
  constructor(
    readonly publisher: LanePublisher,
    private readonly maySend: () => boolean,
    private readonly send: (lane: Lane, publisher: LanePublisher) => Promise<void>,
  ) {}

  enter(broker: number, lane: Lane): void {
    let slot = this.byBroker.get(broker);
    if (!slot) this.byBroker.set(broker, (slot = { busy: false, ready: [] }));
    slot.ready.push(lane);
    this.pump(slot);
  }

  /** Sending is allowed again: the lines move on. */
  resume(): void {
    for (const slot of this.byBroker.values()) this.pump(slot);
  }

  private pump(slot: Slot): void {
    if (slot.busy || !this.maySend()) return;
    const lane = slot.ready.shift();
    if (!lane) return;
    slot.busy = true;
    void this.send(lane, this.publisher).finally(() => {
      slot.busy = false;
      this.pump(slot);
    });
  }
}
