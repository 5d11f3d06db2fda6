import type { Clock } from '../../../platform/clock';
import { messageOf } from '../../../platform/errors';
import { BackgroundLoop, backoffMs, sleep } from '../../../platform/polling';
import type { Logger } from '../../../platform/telemetry';
import { deadLetterTopic } from '../../channels';
import { type LanePublisher, type LaneRecord, PublishError } from '../../kafka';
import { deadLetterHeaders } from './dead-letter-headers';
import type { Backlog, Unpublished, UnpublishedLetter } from './unpublished';

/** Most letters of one claim (each may be a megabyte), and bytes of one request. */
const BATCH = 50;
const REQUEST_BYTES = 800_000;
const LEASE_MS = 60_000;
/** Behind it no request of a claim begins: with the one underway, the lease is still ours. */
const SENDING_MS = 30_000;
const POLL_MS = 1_000;
/** How often the backlog is counted. */
const COUNT_MS = 5_000;
const RETRY = { initialMs: 1_000, maxMs: 5 * 60_000 };
/** While no broker answers: that says nothing of the letter, which goes out soon after one does. */
const AWAY = { code: 'broker-unreachable', initialMs: 1_000, maxMs: 5_000 };

export interface DeadLetterPublisherOptions {
  unpublished: Unpublished;
  /** A publisher with a client of its own; called again after a failure, for one lost topic spoils the metadata of its client. */
  open: () => LanePublisher;
  /** Consumer group, which Spring names beside the record. */
  group: string;
  clock: Clock;
  logger: Logger;
}

/**
 * Shows dead letters on `<topic>-dlt`, for people's own tools; ours read the table. Nothing depends on it: a letter that can't be
 * published stays where it is, with the reason, and is tried again. Each death that is not over by then is shown at least
 * once, in no promised order.
 */
export class DeadLetterPublisher extends BackgroundLoop {
  private lanes: LanePublisher | undefined;
  private latest: Backlog = { count: 0, failed: 0, trouble: undefined };
  private countedAt = -Infinity;

  constructor(private readonly options: DeadLetterPublisherOptions) {
    super();
  }

  override async stop(): Promise<void> {
    await super.stop();
    await this.lanes?.close();
  }

  /** Dead letters, of all processes, that are not on their topic; as last counted. */
  get unpublishedCount(): number {
    return this.latest.count;
  }

  /** One sentence with what to do, while some can't be published. */
  get trouble(): string | undefined {
    const { failed, trouble } = this.latest;
    if (!trouble) return undefined;
    const topic = deadLetterTopic(trouble.topic);
    const remedy = trouble.reason.startsWith(AWAY.code)
      ? 'they go out when the broker answers'
      : /^topic-missing|^partition-missing/.test(trouble.reason)
        ? `run "parley partner add ${trouble.partner}" again, with the options of the first time`
        : `see that the broker takes what is written to ${topic}`;
    return `${failed} dead letters are safe in the table but not on their dead letter topic (${topic}: ${trouble.reason}): ${remedy}.`;
  }

  protected async run(signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted;) {
      let taken = 0;
      try {
        taken = await this.pass();
        await this.count();
        failures = 0;
      } catch (error) {
        // One line when it begins: the database is away, and others say so, too.
        if (failures++ === 0)
          this.options.logger.warn({ reason: messageOf(error) }, 'dead letters could not be looked for');
      }
      if (taken < BATCH) await sleep(POLL_MS, signal);
    }
  }

  /** Publishes what is due, lane by lane; returns how many it took. */
  private async pass(): Promise<number> {
    const { unpublished, clock } = this.options;
    const until = performance.now() + SENDING_MS;
    const now = clock.now();
    const lease = new Date(now.getTime() + LEASE_MS);
    const letters = await unpublished.claim(BATCH, now, lease);
    const lanes = Map.groupBy(letters, ({ topic, partition }) => `${topic}/${partition}`);
    let failed = false;
    for (const lane of lanes.values()) {
      for (const request of requestsOf(lane)) failed = !(await this.publish(request, lease)) || failed;
      if (this.isStopping || performance.now() > until) break;
    }
    if (failed) await this.renewClient();
    return letters.length;
  }

  /** Halves a request that the broker refuses for one of its records. Resolves with whether all are published. */
  private async publish(letters: readonly UnpublishedLetter[], lease: Date): Promise<boolean> {
    const [first] = letters;
    if (!first) return true;
    const topic = deadLetterTopic(first.topic);
    try {
      const records = letters.map((letter) => toRecord(letter, this.options.group));
      await (this.lanes ??= this.options.open()).send({ topic, partition: first.partition, records });
    } catch (error) {
      const isOfOne = error instanceof PublishError && !error.retriable && letters.length > 1;
      if (!isOfOne) return this.failed(letters, topic, lease, error);
      const middle = letters.length >> 1;
      const left = await this.publish(letters.slice(0, middle), lease);
      return (await this.publish(letters.slice(middle), lease)) && left;
    }
    await this.options.unpublished.published(
      letters.map(({ id }) => id),
      lease,
      this.options.clock.now(),
    );
    return true;
  }

  private async failed(
    letters: readonly UnpublishedLetter[],
    topic: string,
    lease: Date,
    error: unknown,
  ): Promise<false> {
    const { unpublished, clock, logger } = this.options;
    const code = error instanceof PublishError ? error.code : 'not-published';
    const failures = Math.max(...letters.map((letter) => letter.failures)) + 1;
    // Said when it begins, not with every attempt.
    logger[failures === 1 ? 'warn' : 'debug'](
      { topic, code, letters: letters.length, reason: messageOf(error, 200) },
      'dead letters are in the table, and could not be written to their topic; tried again',
    );
    const next = new Date(clock.now().getTime() + backoffMs(code === AWAY.code ? AWAY : RETRY, failures));
    await unpublished.failed(
      letters.map(({ id }) => id),
      lease,
      `${code}: ${messageOf(error, 300)}`,
      next,
    );
    return false;
  }

  private async renewClient(): Promise<void> {
    const { lanes } = this;
    this.lanes = undefined;
    await lanes?.close();
  }

  private async count(): Promise<void> {
    const now = performance.now();
    if (now - this.countedAt < COUNT_MS) return;
    this.countedAt = now;
    this.latest = await this.options.unpublished.backlog();
  }
}

function toRecord(letter: UnpublishedLetter, group: string): LaneRecord {
  return { key: letter.key, value: letter.value, headers: deadLetterHeaders(letter, group) };
}

function requestsOf(letters: readonly UnpublishedLetter[]): UnpublishedLetter[][] {
  const requests: UnpublishedLetter[][] = [];
  let room = 0;
  for (const letter of letters) {
    const size = sizeOf(letter);
    if (requests.length === 0 || size > room) {
      requests.push([]);
      room = REQUEST_BYTES;
    }
    requests.at(-1)?.push(letter);
    room -= size;
  }
  return requests;
}

function sizeOf({ key, value, headerNames, headerValues, detail }: UnpublishedLetter): number {
  const bytes = [key, value, ...headerNames, ...headerValues].reduce((sum, part) => sum + (part?.length ?? 0), 0);
  return bytes + (detail?.length ?? 0) * 3 + 1_000;
}
