import type { DespatchAdviceLine, DespatchDriver } from '../../contracts';
import { millionthsOf } from './quantity';

/** What a partner says it has sent, in one despatch. */
export interface Despatch {
  orderNumber: string;
  /** Unique with its partner. */
  despatchNumber: string;
  carrier: string | null;
  trackingNumber: string | null;
  /** Whole grams; decimal text of 64 bits. */
  grossWeightGrams: string | null;
  lines: DespatchAdviceLine[];
  /** Who brings it; personal data. */
  driver: DespatchDriver | null;
}

/** A despatch that was recorded. */
export interface Shipment extends Despatch {
  partner: string;
  /** The order's version after it. */
  orderVersion: number;
  /** The advice that was applied. */
  messageId: string;
  /** As the partner says; text, since it is theirs. */
  issuedAt: string;
  recordedAt: Date;
}

/**
 * Do both say the same of the same goods? Neither the order of the lines nor a zero at the end of a decimal counts; nor do the
 * time of issue, since who makes a document anew stamps it anew, and the driver, who is nothing that was sent.
 */
export function isSameDespatch(a: Despatch, b: Despatch): boolean {
  return (
    a.orderNumber === b.orderNumber &&
    a.despatchNumber === b.despatchNumber &&
    a.carrier === b.carrier &&
    a.trackingNumber === b.trackingNumber &&
    a.grossWeightGrams === b.grossWeightGrams &&
    goodsOf(a) === goodsOf(b)
  );
}

const goodsOf = ({ lines }: Despatch): string =>
  lines
    .map(({ lineNumber, quantity }) => `${lineNumber}:${millionthsOf(quantity)}`)
    .sort()
    .join();
