import type { KafkaConfig } from 'kafkajs';
import { AppError, messageOf } from '../../platform/errors';
import { backoffMs, sleep } from '../../platform/polling';
import type { Logger } from '../../platform/telemetry';
import { type KafkaSettings, kafkajsSettings } from './client-settings';
import { comesFromTheBroker, CrashCount } from './crash-count';
import { GroupMember } from './group-member';
import { createKafkaAdmin, type KafkaAdmin } from './kafka-admin';
import { kafkaLog, kafkaLogLevel } from './kafka-log';
import { codeOf, wordsOf } from './publish-error';
import type { BatchSource, BatchSourceOptions, SourceState, SourceTiming } from './types';

const TIMING: SourceTiming = {
  sessionTimeout: 45_000,
  rebalanceTimeout: 90_000,
  heartbeat: 3_000,
  maxWait: 500,
  commitInterval: 200,
  probe: 10_000,
  deadAfter: 120_000,
};

const REJOIN_BACKOFF = { initialMs: 250, maxMs: 10_000 };
/** A membership that lasted so long was healthy: the next trouble starts with a short pause again. */
const HEALTHY_MS = 60_000;
/** Longest delay of a timer. */
const MOST_MS = 2 ** 31 - 1;

/** A member of a consumer group, with clients of its own. It reads nothing before {@link BatchSource.start}. */
export function createBatchSource(settings: KafkaSettings, logger: Logger, options: BatchSourceOptions): BatchSource {
  const config: KafkaConfig = {
    ...kafkajsSettings(settings, 'consumer'),
    requestTimeout: 15_000,
    retry: { retries: settings.kafkaBrokers.length + 1, initialRetryTime: 100, maxRetryTime: 2_000 },
    logLevel: kafkaLogLevel(logger),
    logCreator: kafkaLog(logger),
  };
  const child = logger.child({ group: options.groupId });
  return new KafkaBatchSource(config, () => createKafkaAdmin(settings), options, child);
}

class KafkaBatchSource implements BatchSource {
  private readonly timing: SourceTiming;
  private readonly crashes = new CrashCount();
  private topics: readonly string[];
  private missing: readonly string[] = [];
  private current: SourceState = 'starting';
  private member: GroupMember | undefined;
  private readonly departing = new Set<Promise<void>>();
  private admin: KafkaAdmin | undefined;
  private loop: Promise<void> | undefined;
  /** Aborted to end a pause early: closing, or another list of topics. */
  private hurry = new AbortController();
  private failures = 0;
  private lastFailure: string | undefined;
  private lastSeen: Date | undefined;
  private joinedOnce = false;
  private closed = false;

  constructor(
    private readonly config: KafkaConfig,
    private readonly openAdmin: () => KafkaAdmin,
    private readonly options: BatchSourceOptions,
    private readonly logger: Logger,
  ) {
    this.topics = options.topics;
    this.timing = { ...TIMING, ...options.timing };
  }

  get state(): SourceState {
    if (this.closed) return 'closed';
    return this.member?.joined ? 'joined' : this.current;
  }

  get everJoined(): boolean {
    return this.joinedOnce || this.member?.joined === true;
  }

  get lastActivity(): Date | undefined {
    return this.member?.lastActivity ?? this.lastSeen;
  }

  get trouble(): string | undefined {
    const troubles = [
      ...(this.lastFailure !== undefined && !this.member?.joined ? [this.lastFailure] : []),
      ...this.missing.map((topic) => `topic ${topic} does not exist`),
      ...(this.member?.pauses.trouble ?? []),
    ];
    return troubles.length === 0 ? undefined : troubles.join('; ');
  }

  start(): void {
    if (this.closed) return;
    this.loop ??= this.supervise();
  }

  async restart(topics: readonly string[]): Promise<void> {
    this.topics = topics;
    this.hasten();
    await this.member?.leave();
  }

  async close(): Promise<void> {
    this.closed = true;
    this.hasten();
    await this.member?.leave();
    await this.loop;
    await Promise.all(this.departing);
  }

  private hasten(): void {
    this.hurry.abort();
    this.hurry = new AbortController();
  }

  private async supervise(): Promise<void> {
    while (!this.closed) {
      const began = Date.now();
      try {
        await this.live();
        this.failures = 0;
      } catch (error) {
        if (Date.now() - began > HEALTHY_MS) this.failures = 0;
        await this.recover(error);
      }
    }
    await this.admin?.close();
  }

  /** One membership, from looking for the topics to its end. Rejects with what it died of. */
  private async live(): Promise<void> {
    const { topics } = this;
    const present = await this.unlessHurried(this.present(topics));
    if (!present || this.closed || topics !== this.topics) return;
    if (present.length === 0) {
      await sleep(this.timing.probe, this.hurry.signal);
      return;
    }
    const member = new GroupMember(this.config, present, this.options, this.timing, this.logger);
    this.member = member;
    try {
      await member.run();
      const cause = await this.untilEnd(member);
      if (cause) throw cause;
    } finally {
      this.lastSeen = member.lastActivity ?? this.lastSeen;
      this.joinedOnce ||= member.joined;
      this.member = undefined;
      this.current = this.joinedOnce ? 'rebuilding' : 'starting';
      this.depart(member);
    }
  }

  /** After a crash this only gives the connections back. A client that hangs must not hold up its successor, only our end. */
  private depart(member: GroupMember): void {
    const departed = member
      .leave()
      .catch((error: unknown) => this.logger.debug({ reason: messageOf(error) }, 'client ended badly'))
      .finally(() => this.departing.delete(departed));
    this.departing.add(departed);
  }

  /** Undefined when it is hurried meanwhile: a broker that takes connections and says nothing is asked for minutes. */
  private async unlessHurried<T>(work: Promise<T>): Promise<T | undefined> {
    const over = new AbortController();
    const hurried = sleep(MOST_MS, AbortSignal.any([this.hurry.signal, over.signal])).then(() => undefined);
    try {
      return await Promise.race([work, hurried]);
    } finally {
      over.abort();
    }
  }

  private async present(topics: readonly string[]): Promise<string[]> {
    this.admin ??= this.openAdmin();
    const found = await this.admin.existing(topics);
    const missing = topics.filter((topic) => !found.has(topic));
    for (const topic of missing.filter((name) => !this.missing.includes(name))) {
      this.logger.warn({ topic, code: 'topic-missing' }, 'topic does not exist: left out until it appears');
    }
    if (topics === this.topics) this.missing = missing;
    return topics.filter((topic) => found.has(topic));
  }

  /** Resolves with the cause when the client crashed or fell silent, with undefined when it left. */
  private async untilEnd(member: GroupMember): Promise<Error | undefined> {
    const over = new AbortController();
    const ended = member.ended.finally(() => over.abort());
    for (;;) {
      await sleep(Math.min(this.timing.probe, this.timing.deadAfter / 4), over.signal);
      if (over.signal.aborted) return ended;
      const silence = Date.now() - (member.lastActivity?.getTime() ?? 0);
      if (member.joined && silence > this.timing.deadAfter) {
        return new AppError('consumer-silent', `no fetch, heartbeat or batch for ${silence} ms`);
      }
      if (this.missing.length > 0 && (await this.unlessHurried(this.appeared()))) await member.leave();
    }
  }

  private async appeared(): Promise<boolean> {
    try {
      const found = await this.admin?.existing(this.missing);
      if (!found?.size) return false;
      this.logger.info({ topics: [...found] }, 'missing topics appeared: joining again with them');
      return true;
    } catch {
      // The next look will tell; reading goes on.
      return false;
    }
  }

  private async recover(error: unknown): Promise<void> {
    if (this.closed) return;
    this.failures++;
    const code = crashCode(error);
    const reason = error instanceof AppError ? messageOf(error) : wordsOf(error);
    const pause = backoffMs(REJOIN_BACKOFF, this.failures);
    const fields = { code, attempt: this.failures, retry_in_ms: pause, reason };
    const excused = this.excused(error);
    // The broker's absence or refusal is said once while it lasts, and again when the reason is another.
    const isNews = !excused || this.failures === 1 || reason !== this.lastFailure;
    this.logger[isNews ? 'warn' : 'debug'](fields, 'not reading: the consumer is built anew');
    this.lastFailure = reason;
    if (!excused && this.crashes.add(Date.now())) {
      this.logger.fatal(fields, 'the consumer crashes again and again');
      this.options.onFatal(
        new AppError('consumer-crashing', `The consumer keeps crashing: ${reason}`, { cause: error }),
      );
    }
    await sleep(pause, this.hurry.signal);
  }

  private excused(error: unknown): boolean {
    return error instanceof AppError ? error.code !== 'consumer-silent' : comesFromTheBroker(error);
  }
}

/** Codes of publishing that say nothing about reading become `consumer-crashed`. */
function crashCode(error: unknown): string {
  if (error instanceof AppError) return error.code;
  const code = codeOf(error);
  return code === 'not-acknowledged' || code === 'invalid-record' ? 'consumer-crashed' : code;
}
