import {
  type AnyContract,
  type Contract,
  DEFAULT_RETRY,
  orderResponse,
  type RawHeaders,
  typeOf,
} from '../../../src/contracts';
import type { InboundRecord, RecordBatch } from '../../../src/messaging/kafka';

/** A document with state: what a test does with it stands in `effect`. */
export interface Step {
  orderNumber: string;
  step?: string;
  [more: string]: unknown;
}

/** Nothing that failed is due again by itself while a test runs, however slowly. */
const retry = { ...DEFAULT_RETRY, initialMs: 3_600_000, maxMs: 3_600_000 };

const step = (name: string, laterMessages: 'hold' | 'continue', topic: string): Contract<Step> => ({
  name,
  version: 1,
  summary: name,
  direction: 'in',
  topic,
  key: 'orderNumber',
  laterMessages,
  retry,
  jsonSchema: { type: 'object', required: ['orderNumber'], properties: { orderNumber: { type: 'string' } } },
  examples: [{ orderNumber: '1' }],
});
export const STEP = step('test-step', 'hold', 'orders.{partner}.response.v1');
export const OTHER_STEP = step('test-other-step', 'hold', 'orders.{partner}.response.v1');
export const NOTE = step('test-note', 'continue', 'orders.{partner}.response.v1');
export const OUTGOING: Contract<Step> = { ...STEP, name: 'test-outgoing', direction: 'out' };
export const ELSEWHERE = step('test-elsewhere', 'hold', 'shipments.{partner}.request.v1');
export const TEST_CONTRACTS: readonly AnyContract[] = [STEP, OTHER_STEP, NOTE, OUTGOING, ELSEWHERE, orderResponse];

export interface RecordShape {
  key?: string | Buffer | null;
  id?: string;
  contract?: Contract<Step>;
  value?: Buffer | string | null;
  headers?: RawHeaders;
  timestamp?: number;
}

/** Records of one topic-partition with consecutive offsets. */
export class Tape {
  private next: bigint;

  constructor(
    readonly topic: string,
    readonly partition = 0,
    start = 0n,
  ) {
    this.next = start;
  }

  record(shape: RecordShape = {}): InboundRecord {
    const { key = 'order-1', contract = STEP, timestamp = Date.now() } = shape;
    const text = key === null ? 'order-0' : key.toString();
    const value =
      shape.value === undefined ? JSON.stringify({ orderNumber: text, step: String(this.next) }) : shape.value;
    return {
      topic: this.topic,
      partition: this.partition,
      offset: this.next++,
      timestamp,
      key: key === null ? null : Buffer.from(key),
      value: value === null ? null : Buffer.from(value),
      headers: {
        ce_specversion: '1.0',
        ce_type: typeOf(contract),
        ce_id: shape.id ?? `${this.topic}-${this.partition}-${this.next}`,
        ...shape.headers,
      },
    };
  }

  records(count: number, shape: (index: number) => RecordShape): InboundRecord[] {
    return Array.from({ length: count }, (_, index) => this.record(shape(index)));
  }
}

/** A fetched batch that remembers what it was told. */
export class TestBatch implements RecordBatch {
  readonly topic: string;
  readonly partition: number;
  readonly highWatermark = 0n;
  generation = 1;
  readonly done_: bigint[] = [];
  readonly pauses: string[] = [];
  heartbeats = 0;
  stale = false;

  constructor(readonly records: readonly InboundRecord[]) {
    const [first] = records;
    this.topic = first?.topic ?? '';
    this.partition = first?.partition ?? 0;
  }

  get doneUpTo(): bigint | undefined {
    return this.done_.at(-1);
  }

  isStale(): boolean {
    return this.stale;
  }

  heartbeat(): Promise<void> {
    this.heartbeats++;
    return Promise.resolve();
  }

  done(offset: bigint): Promise<void> {
    this.done_.push(offset);
    return Promise.resolve();
  }

  pause(_ms: number, reason: string): void {
    this.stale = true;
    this.pauses.push(reason);
  }
}
