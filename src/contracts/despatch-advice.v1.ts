import type { Contract } from './contract';
import jsonSchema from './despatch-advice.v1.schema.json';

export interface DespatchAdviceLine {
  /** A line of the order. */
  lineNumber: number;
  /** What is in this despatch; decimal string, greater than 0. */
  quantity: string;
}

/** Who brings a despatch; personal data. */
export interface DespatchDriver {
  name: string;
  phone?: string;
}

/** The partner says what it has sent for an order. */
export interface DespatchAdvice {
  orderNumber: string;
  /** The partner's number of this despatch, unique with this partner. */
  despatchNumber: string;
  /** RFC 3339, UTC. */
  issuedAt: string;
  /** Who carries it, for people. */
  carrier?: string;
  trackingNumber?: string;
  /** Whole grams, as text: 64 bits. */
  grossWeightGrams?: string;
  lines: DespatchAdviceLine[];
  driver?: DespatchDriver;
}

export const despatchAdvice: Contract<DespatchAdvice> = {
  name: 'despatch-advice',
  version: 1,
  summary: 'The partner says what it has sent for an order. Orders are shipped in one or several despatches.',
  direction: 'in',
  topic: 'shipments.{partner}.request.v1',
  key: 'orderNumber',
  // Most that fail came before the acceptance, on another topic: soon it is there, or a partner's clerk gives it in the course of the day.
  retry: { initialMs: 500, maxMs: 5 * 60_000, attempts: 1_000, maxAgeMs: 24 * 60 * 60_000 },
  laterMessages: 'hold',
  jsonSchema,
  examples: [
    {
      orderNumber: '4500017',
      despatchNumber: 'D-900',
      issuedAt: '2026-02-04T08:00:00.000Z',
      carrier: 'Parcel Ltd',
      trackingNumber: 'PX-1',
      grossWeightGrams: '12500',
      lines: [{ lineNumber: 1, quantity: '12.5' }],
    },
    {
      orderNumber: '4500018',
      despatchNumber: 'D-901',
      issuedAt: '2026-02-04T08:00:00.000Z',
      lines: [{ lineNumber: 1, quantity: '1' }],
      driver: { name: 'Sam Roe', phone: '+49 151 5550100' },
    },
  ],
};
