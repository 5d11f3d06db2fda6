import { messageOf } from '../../platform/errors';
import { backoffMs } from '../../platform/polling';
import type { Logger } from '../../platform/telemetry';
import { FetchedBatch, type Membership } from './fetched-batch';
import type { EachBatchPayload, KafkaJSError } from './kafkajs';
import type { PartitionPauses } from './partition-pauses';
import { unreadableCause } from './patches/fetch-decoder';
import type { RecordBatch } from './types';

/** Pause of a partition whose batch failed. */
const FAILURE_BACKOFF = { initialMs: 250, maxMs: 10_000 };

/** Brings one fetched batch through `onBatch`, whatever that does. */
export class BatchDelivery {
  constructor(
    private readonly onBatch: (batch: RecordBatch) => Promise<void>,
    private readonly pauses: PartitionPauses,
    private readonly logger: Logger,
  ) {}

  /**
   * Never rejects. Resolves with kafkajs' own error where a heartbeat met one: that must leave `eachBatch`, for it steers the
   * rejoin. Anything else that did would be retried by kafkajs with all partitions standing still, or, as a TypeError,
   * RangeError, SyntaxError or ReferenceError, end the client for good.
   */
  async deliver(payload: EachBatchPayload, membership: Membership): Promise<KafkaJSError | undefined> {
    const { topic, partition, messages } = payload.batch;
    const mark = messages[0];
    const cause = mark && unreadableCause(mark);
    if (cause) {
      const reason = `what ends at offset ${mark.offset} can't be unpacked: ${messageOf(cause)}`;
      this.backOff({ topic, partition }, 'batch-unreadable', reason, membership);
      return undefined;
    }
    const batch = new FetchedBatch(payload, membership);
    const failure = await this.attempt(batch);
    if (failure !== undefined && !batch.isStale()) {
      this.backOff(batch, 'batch-failed', messageOf(failure), membership, failure);
    }
    return batch.lost;
  }

  private async attempt(batch: FetchedBatch): Promise<unknown> {
    try {
      await this.onBatch(batch);
    } catch (error) {
      return error ?? new Error('The handler rejected without a reason.');
    }
    if (!batch.complete) return new Error('The handler left the batch unfinished.');
    this.pauses.healed(batch);
    return undefined;
  }

  private backOff(
    lane: { topic: string; partition: number },
    code: string,
    reason: string,
    membership: Membership,
    cause?: unknown,
  ): void {
    const { topic, partition } = lane;
    const attempt = this.pauses.failed(lane);
    const pause = backoffMs(FAILURE_BACKOFF, attempt);
    const fields = { topic, partition, code, attempt, retry_in_ms: pause, reason };
    // The stack alone: errors of the database carry their statement's parameters, and those are documents.
    const stack = cause instanceof Error ? cause.stack : undefined;
    this.logger.error(stack === undefined ? fields : { ...fields, stack }, 'batch failed; it comes again');
    membership.pause(pause, reason);
  }
}
