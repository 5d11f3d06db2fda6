import type { Contract } from './contract';
import { despatchAdvice } from './despatch-advice.v1';
import jsonSchema from './despatch-receipt.v1.schema.json';

/** Our answer to a despatch advice. */
export interface DespatchReceipt {
  orderNumber: string;
  /** The despatch that this answers. */
  despatchNumber: string;
  /** `AP` recorded; `RE` refused, nothing of it was recorded. */
  receiptCode: string;
  /** RFC 3339, UTC. */
  issuedAt: string;
  /** With `RE`: a stable slug, `over-delivery` say. */
  reasonCode?: string;
  /** With `RE`: for people. */
  reason?: string;
}

export const despatchReceipt: Contract<DespatchReceipt> = {
  name: 'despatch-receipt',
  version: 1,
  summary: 'Our answer to a despatch advice: AP recorded, RE refused with a reason.',
  direction: 'out',
  topic: 'shipments.{partner}.response.v1',
  key: 'orderNumber',
  answers: despatchAdvice.name,
  laterMessages: 'hold',
  jsonSchema,
  examples: [
    { orderNumber: '4500017', despatchNumber: 'D-900', receiptCode: 'AP', issuedAt: '2026-02-04T08:00:01.000Z' },
    {
      orderNumber: '4500017',
      despatchNumber: 'D-901',
      receiptCode: 'RE',
      issuedAt: '2026-02-04T09:00:01.000Z',
      reasonCode: 'over-delivery',
      reason: 'Line 1: 12.5 ordered, 12.5 despatched before, 1 in this despatch.',
    },
  ],
};
