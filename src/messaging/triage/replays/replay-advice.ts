import { Module } from '@nestjs/common';

/** A dead letter about which a room is asked. */
export interface AdvisedMessage {
  /** Of the parked message. */
  id: string;
  /** The record's key as text. */
  key: string;
  correlationId: string | null;
}

export interface AdvisedBatch {
  partner: string;
  messages: readonly AdvisedMessage[];
  /** The documents of these, where they can be decoded; not cheap, so ask only where the answer rests on it. */
  documents(ids: readonly string[]): Promise<ReadonlyMap<string, unknown>>;
}

/** Why a message had better not be replayed, in words for staff. */
export interface Objection {
  code: string;
  detail: string;
}

/**
 * What a room knows of dead letters of one of its documents before they are replayed: an objection for each that would only
 * die again, by id. Set-based: a batch holds up to some thousand messages of one partner. Advice, not a verdict: nothing is locked.
 */
export type ReplayAdvice = (batch: AdvisedBatch) => Promise<ReadonlyMap<string, Objection>>;

/** Whom a plan asks. Rooms register at boot, a document once. */
export class ReplayAdvisors {
  private readonly byType = new Map<string, ReplayAdvice>();

  /** @param type CloudEvents type of the document, see `typeOf` */
  add(type: string, advice: ReplayAdvice): void {
    if (this.byType.has(type)) throw new Error(`${type} has its advice already`);
    this.byType.set(type, advice);
  }

  get types(): string[] {
    return [...this.byType.keys()];
  }

  of(type: string): ReplayAdvice | undefined {
    return this.byType.get(type);
  }
}

/** Where rooms meet the plan: needs nothing, so that a room can import it alone. */
@Module({ providers: [ReplayAdvisors], exports: [ReplayAdvisors] })
export class ReplayAdviceModule {}
