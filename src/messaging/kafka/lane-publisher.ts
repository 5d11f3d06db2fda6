import { backoffMs } from '../../platform/polling';
import type { Logger } from '../../platform/telemetry';
import { type KafkaSettings, kafkajsSettings } from './client-settings';
import { kafkaLog, kafkaLogLevel } from './kafka-log';
import type { RecordMetadata } from './kafkajs';
import { ProducerSession } from './producer-session';
import { PublishError, toPublishError } from './publish-error';
import type { LaneBatch, LanePublisher, LaneReceipt } from './types';

/** Bound of one send over all: two attempts of 7 s each and what lies between. After it the outcome is unknown and the lane goes on. */
const SEND_DEADLINE_MS = 16_000;

/** Pause between two attempts to connect, whatever the number of lanes; a lane's own pauses are as long. */
const CONNECT_BACKOFF = { initialMs: 100, maxMs: 3_000 };

/**
 * A publisher with a client of its own: connections, metadata and producer id. A deleted topic or a revoked right spoils the
 * metadata of every lane on a client, so lanes in trouble belong on a second publisher; `purpose` names each in the client id.
 */
export function createLanePublisher(settings: KafkaSettings, logger: Logger, purpose: string): LanePublisher {
  const config = {
    ...kafkajsSettings(settings, purpose),
    logLevel: kafkaLogLevel(logger),
    logCreator: kafkaLog(logger),
  };
  return new KafkaLanePublisher(() => new ProducerSession(config), logger.child({ publisher: purpose }));
}

class KafkaLanePublisher implements LanePublisher {
  private session: ProducerSession | undefined;
  private readonly ending = new Set<Promise<void>>();
  private readonly busy = new Set<string>();
  private closed = false;
  /** Of connecting in a row. */
  private failures = 0;
  private refusal: { error: unknown; until: number } | undefined;

  constructor(
    private readonly open: () => ProducerSession,
    private readonly logger: Logger,
  ) {}

  async leaderOf(topic: string, partition: number): Promise<number> {
    const session = await this.connected(topic, partition);
    return this.leader(session, topic, partition);
  }

  async send(batch: LaneBatch): Promise<LaneReceipt> {
    const { topic, partition } = batch;
    const lane = `${topic}/${partition}`;
    if (batch.records.length === 0) {
      throw new PublishError('invalid-record', 'refused', topic, partition, 'a batch has at least one record');
    }
    if (this.busy.has(lane)) {
      // Two overlapping sends to one partition lose records when the first fails: its sequence goes to the second.
      throw new PublishError('lane-busy', 'refused', topic, partition, 'the send before this one is still outstanding');
    }
    this.busy.add(lane);
    try {
      return await this.sendOn(await this.ready(topic, partition), batch);
    } finally {
      this.busy.delete(lane);
    }
  }

  async close(): Promise<void> {
    this.closed = true;
    if (this.session) this.retire(this.session);
    await Promise.all(this.ending);
  }

  /** A session that is connected and knows the leader. One that another lane's failure retired meanwhile takes no more. */
  private async ready(topic: string, partition: number): Promise<ProducerSession> {
    for (;;) {
      const session = await this.connected(topic, partition);
      await this.leader(session, topic, partition);
      if (!session.retired) return session;
    }
  }

  private async connected(topic: string, partition: number): Promise<ProducerSession> {
    if (this.closed) throw new PublishError('publisher-closed', 'refused', topic, partition, 'the publisher is closed');
    if (this.refusal && Date.now() < this.refusal.until) {
      throw toPublishError(topic, partition, 'before-send', this.refusal.error);
    }
    const session = (this.session ??= this.open());
    try {
      await session.connect();
      this.failures = 0;
      this.refusal = undefined;
      return session;
    } catch (error) {
      // Once for all lanes that waited for it.
      if (this.session === session) this.refuseFor(backoffMs(CONNECT_BACKOFF, ++this.failures), error);
      this.retire(session);
      throw toPublishError(topic, partition, 'before-send', error);
    }
  }

  /** Each lane tries again at a time of its own: a thousand of them would be a flood at a broker that lets none in. */
  private refuseFor(ms: number, error: unknown): void {
    this.refusal = { error, until: Date.now() + ms };
  }

  /** Asked before each send: an absent topic or partition is refused here, before it can cost a sequence number. */
  private async leader(session: ProducerSession, topic: string, partition: number): Promise<number> {
    try {
      const leader = await session.leaderOf(topic, partition);
      if (leader !== undefined) return leader;
    } catch (error) {
      const refused = toPublishError(topic, partition, 'before-send', error);
      // A topic's own trouble leaves the client intact; anything else may come from a dead connection.
      if (refused.code !== 'topic-missing' && refused.code !== 'not-authorized') this.retire(session);
      throw refused;
    }
    throw new PublishError('partition-missing', 'refused', topic, partition, 'the topic has no such partition');
  }

  private async sendOn(session: ProducerSession, batch: LaneBatch): Promise<LaneReceipt> {
    const { topic, partition } = batch;
    try {
      return receiptOf(batch, await withDeadline(session.send(batch), batch));
    } catch (error) {
      this.retire(session);
      const failure = toPublishError(topic, partition, 'sending', error);
      this.logger.debug({ topic, partition, code: failure.code, outcome: failure.outcome }, failure.message);
      throw failure;
    }
  }

  private retire(session: ProducerSession): void {
    if (this.session === session) this.session = undefined;
    const ended = session.retire().finally(() => this.ending.delete(ended));
    this.ending.add(ended);
  }
}

/** kafkajs resolves also when it has sent nothing (an unknown partition gives an empty list): only the broker's own word counts. */
function receiptOf({ topic, partition }: LaneBatch, results: readonly RecordMetadata[]): LaneReceipt {
  const result = results.find((entry) => entry.topicName === topic && entry.partition === partition);
  const offset = result?.errorCode === 0 ? result.baseOffset : undefined;
  if (offset === undefined || !/^\d+$/.test(offset)) {
    const said = result ? `error code ${result.errorCode}, base offset ${result.baseOffset ?? 'none'}` : 'nothing';
    throw new PublishError('not-acknowledged', 'unknown', topic, partition, `the broker acknowledged ${said}`);
  }
  return { topic, partition, baseOffset: BigInt(offset) };
}

async function withDeadline<T>(work: Promise<T>, { topic, partition }: LaneBatch): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const detail = `no answer within ${SEND_DEADLINE_MS} ms`;
      reject(new PublishError('not-acknowledged', 'unknown', topic, partition, detail));
    }, SEND_DEADLINE_MS);
  });
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
