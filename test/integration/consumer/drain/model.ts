/** What a handler does with a message, as long as nobody changes it. */
export type Fate = 'applied' | 'retry' | 'dead' | 'throws';
export type State = 'waiting' | 'held' | 'dead' | 'processed' | 'discarded';

export interface ModelMessage {
  /** Of what the partner sent. */
  id: string;
  /** Of the edit that stands in its place. */
  editId: string | undefined;
  fate: Fate;
  isGarbage: boolean;
  /** Its contract lets later ones go on when it fails. */
  isNote: boolean;
  /** undefined: it was applied as it came, and never parked. */
  state: State | undefined;
  holds: boolean;
  /** It has lost its place in its key. */
  isFree: boolean;
  isDue: boolean;
  attempts: number;
}

/** After so many a message is dead. */
export const ATTEMPTS = 3;

const OPEN: readonly unknown[] = ['waiting', 'held', 'dead'];

/** The rules for one key of one channel, one message at a time; nothing else is known here. */
export class ModelKey {
  /** In the order of arrival. */
  readonly messages: ModelMessage[] = [];
  /** Ids in the order of their effect. */
  readonly effects: string[] = [];
  /** Ids of effects without an order: they failed, and their contract lets the key go on. */
  readonly freeEffects: string[] = [];
  /** Is its partner suspended? */
  isSuspended = false;

  constructor(
    readonly topic: string,
    readonly key: string,
  ) {}

  get isParked(): boolean {
    return this.queue.length > 0;
  }

  in(state: State): ModelMessage[] {
    return this.messages.filter((message) => message.state === state);
  }

  arrive(id: string, fate: Fate, kind: { isGarbage: boolean; isNote: boolean }): void {
    const message: ModelMessage = {
      ...{
        id,
        fate,
        ...kind,
        editId: undefined,
        state: undefined,
        holds: false,
        isFree: false,
        isDue: false,
        attempts: 0,
      },
    };
    const isHeld = this.isParked;
    this.messages.push(message);
    if (this.isSuspended) {
      Object.assign(message, { state: isHeld ? 'held' : 'waiting', holds: true, isDue: !isHeld });
      return;
    }
    if (message.isGarbage) this.die(message);
    else if (isHeld) Object.assign(message, { state: 'held', holds: true });
    else this.attempt(message);
    if (message.state === 'processed') message.state = undefined;
  }

  /** Everything that is due, and what comes of it. */
  drain(): void {
    if (this.isSuspended) return;
    for (let due = this.due(); due; due = this.due()) {
      if (due.isGarbage && due.editId === undefined) this.die(due);
      else this.attempt(due);
      this.turn();
    }
  }

  makeDue(): void {
    for (const message of this.in('waiting')) message.isDue = true;
  }

  /** Which of them are released; the others are behind an earlier dead letter that stays. */
  release(ids: ReadonlySet<string>): string[] {
    const released: string[] = [];
    for (const message of this.in('dead').filter(({ id }) => ids.has(id))) {
      const before = message.holds ? this.queue.slice(0, this.queue.indexOf(message)) : [];
      if (before.some(({ state }) => state === 'dead')) continue;
      const isFirst = before.length === 0;
      Object.assign(message, { state: isFirst ? 'waiting' : 'held', isDue: isFirst, attempts: 0 });
      released.push(message.id);
    }
    return released;
  }

  discard(message: ModelMessage): void {
    message.state = 'discarded';
    this.turn();
  }

  restore(message: ModelMessage): void {
    message.state = 'dead';
    const isBehind = ({ state, holds }: ModelMessage, index: number) =>
      state === 'waiting' && holds && index > this.messages.indexOf(message);
    if (message.holds) this.messages.filter(isBehind).forEach((one) => (one.state = 'held'));
  }

  private get queue(): ModelMessage[] {
    return this.messages.filter(({ holds, state }) => holds && OPEN.includes(state));
  }

  private due(): ModelMessage | undefined {
    const [head] = this.queue;
    return this.messages.find((one) => one.state === 'waiting' && one.isDue && (!one.holds || one === head));
  }

  private turn(): void {
    const [head] = this.queue;
    if (head?.state === 'held') Object.assign(head, { state: 'waiting', isDue: true });
  }

  private attempt(message: ModelMessage): void {
    if (message.fate === 'applied') {
      message.state = 'processed';
      (message.isFree ? this.freeEffects : this.effects).push(message.editId ?? message.id);
      return;
    }
    message.attempts++;
    message.isDue = false;
    Object.assign(message, { holds: !message.isNote, isFree: message.isNote });
    message.state = message.fate === 'dead' || message.attempts >= ATTEMPTS ? 'dead' : 'waiting';
  }

  private die(message: ModelMessage): void {
    Object.assign(message, { state: 'dead', holds: !message.isNote, isFree: message.isNote, isDue: false });
  }
}
