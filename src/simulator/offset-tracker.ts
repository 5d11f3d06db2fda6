export interface Position {
  topic: string;
  partition: number;
  offset: bigint;
  leaderEpoch: number;
}

/** A request that was read; `open` counts the answers that are not written yet. */
export interface Ticket extends Position {
  open: number;
}

/** Which offsets may be committed: those before the first request of its partition that still waits for an answer. */
export class OffsetTracker {
  private readonly lanes = new Map<string, Ticket[]>();
  private waiting = 0;

  /** Requests that are not wholly answered. */
  get pending(): number {
    return this.waiting;
  }

  /** Takes a request; the tickets of a partition are taken in offset order. */
  take(position: Position, answers: number): Ticket {
    const name = `${position.topic}/${position.partition}`;
    let lane = this.lanes.get(name);
    if (!lane) this.lanes.set(name, (lane = []));
    const ticket = { ...position, open: answers };
    lane.push(ticket);
    if (answers > 0) this.waiting++;
    return ticket;
  }

  answered(ticket: Ticket): void {
    if (--ticket.open === 0) this.waiting--;
  }

  /** Offsets to commit (the next one to read), for partitions where something moved since the last call. */
  committable(): Position[] {
    const positions: Position[] = [];
    for (const lane of this.lanes.values()) {
      const first = lane.findIndex((ticket) => ticket.open > 0);
      const done = lane.splice(0, first < 0 ? lane.length : first);
      const last = done.at(-1);
      if (last) {
        const { topic, partition, offset, leaderEpoch } = last;
        positions.push({ topic, partition, offset: offset + 1n, leaderEpoch });
      }
    }
    return positions;
  }
}
