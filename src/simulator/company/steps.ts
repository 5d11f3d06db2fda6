import { printable } from '../terminal';
import { FAULTS } from './faults';
import { type Heard, isFault } from './heard';
import { type Exchange, type Finding, openOf } from './ledger';

/** One thing that happened, for people and for programs. */
export type Step =
  | { kind: 'request' | 'again'; what: Exchange['kind']; order: string; id: string; correlationId: string }
  | {
      kind: 'answer';
      what: Exchange['kind'];
      order: string;
      code: string;
      id: string;
      afterMs: number;
      isRepeat: boolean;
    }
  | {
      kind: 'despatch';
      order: string;
      despatchNumber: string;
      receiptCode: string;
      reason: string | undefined;
      isRepeat: boolean;
    }
  | {
      kind: 'fault';
      code: string;
      detail: string;
      pointer: string | undefined;
      topic: string;
      partition: number;
      offset: string;
      next: string;
    };

type Happened = { kind: 'request' | 'again'; exchange: Exchange } | { kind: 'heard'; finding: Finding; heard: Heard };

/** Undefined for what speaks of nothing that was asked. */
export function stepOf(happened: Happened): Step | undefined {
  if (happened.kind !== 'heard') {
    const { kind, order, id, correlationId } = happened.exchange;
    return { kind: happened.kind, what: kind, order, id, correlationId };
  }
  const { finding, heard } = happened;
  switch (finding.kind) {
    case 'foreign':
      return undefined;
    case 'fault': {
      const { code, detail, pointer } = finding.fault;
      const { topic, partition, offset } = heard;
      return { kind: 'fault', code, detail, pointer, topic, partition, offset, next: FAULTS[code].next };
    }
    case 'answered': {
      const { exchange, answer } = finding;
      const { code, id, at, isRepeat } = answer;
      const afterMs = at - (exchange.writtenAt ?? at);
      return { kind: 'answer', what: exchange.kind, order: exchange.order, code, id, afterMs, isRepeat };
    }
    case 'despatched': {
      const { receipt, isRepeat } = finding;
      if (isFault(heard.said) || heard.said.kind !== 'despatch-advice') return undefined;
      const { orderNumber: order, despatchNumber } = heard.said.document;
      const { receiptCode, reason } = receipt;
      return { kind: 'despatch', order, despatchNumber, receiptCode, reason, isRepeat };
    }
  }
}

export function stepLine(step: Step): string {
  switch (step.kind) {
    case 'request':
    case 'again':
      return `→ ${step.order}  ${step.what}${step.kind === 'again' ? ' again' : ''}`;
    case 'answer':
      return `← ${step.order}  ${step.what === 'order' ? '' : 'cancellation '}${step.code} after ${step.afterMs} ms${step.isRepeat ? ' (again)' : ''}`;
    case 'despatch':
      return `← ${step.order}  despatch ${printable(step.despatchNumber)}, receipt ${step.receiptCode}${step.reason === undefined ? '' : `: ${step.reason}`}${step.isRepeat ? ' (again)' : ''}`;
    case 'fault': {
      const where = step.pointer === undefined ? '' : ` at ${step.pointer}`;
      const place = `${step.topic}/${step.partition} offset ${step.offset}`;
      return `✗ ${place}  ${step.code}${where}: ${printable(step.detail)}\n    ${step.next}`;
    }
  }
}

export function summaryOf(exchanges: readonly Exchange[], faults: number) {
  const open = openOf(exchanges).length;
  const answered = exchanges.length - open;
  const text = `${exchanges.length} requests: ${answered} settled, ${open} without a final answer; ${faults} records that could not be read or accepted`;
  const exitCode = open === 0 && faults === 0 && exchanges.length > 0 ? 0 : answered > 0 ? 3 : 1;
  return { requests: exchanges.length, answered, open, faults, exitCode, text };
}
