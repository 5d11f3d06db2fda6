import { sequenceOf } from '../record-identity';
import type { Sequence } from './drain-transaction';

/** So many keys are remembered; beyond it they are forgotten, and their offenders looked for once more. */
const MOST = 1_000;

/** Keys that have an offender among their next messages, so that from turn to turn it is looked for where it must be. */
export class Suspects {
  /** By sequence: among so many from the head on. */
  private readonly within = new Map<string, number>();

  /** No more of it than half of what failed. */
  shortened(sequence: Sequence): Sequence {
    const count = Math.ceil((this.within.get(nameOf(sequence)) ?? Infinity) / 2);
    if (count >= sequence.messages.length) return sequence;
    return { ...sequence, ids: sequence.ids.slice(0, count), messages: sequence.messages.slice(0, count) };
  }

  /** These failed together. */
  failed(sequence: Sequence): void {
    if (this.within.size >= MOST) this.within.clear();
    if (sequence.messages.length > 1) this.within.set(nameOf(sequence), sequence.messages.length);
    else this.within.delete(nameOf(sequence));
  }

  /** These went well: it is among those behind them, if it still fails. */
  passed(sequence: Sequence): void {
    const left = (this.within.get(nameOf(sequence)) ?? 0) - sequence.messages.length;
    if (left > 0) this.within.set(nameOf(sequence), left);
    else this.within.delete(nameOf(sequence));
  }
}

const nameOf = ({ channelId, key, head }: Sequence): string =>
  key === null ? `${channelId} ${head} alone` : sequenceOf({ channelId, key });
