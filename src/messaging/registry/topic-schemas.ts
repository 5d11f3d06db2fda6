import { type Clock, systemClock } from '../../platform/clock';
import { messageOf } from '../../platform/errors';
import { sleep } from '../../platform/polling';
import { RegistryUnavailable } from './codec';
import { Lru } from './lru';
import type { RegisteredSchema, SchemaRegistry } from './schema-registry';

/** At most one look at the registry per topic in this time, whatever partners write. */
const REFRESH_MS = 1000;
/** How long an id that was found missing is believed to be so. */
const MISSING_MS = 30_000;
const MAX_MISSING = 10_000;

interface Topic {
  /** Subjects that were ever asked for; each refresh lists all of them. */
  readonly subjects: Set<string>;
  readonly known: Map<number | string, RegisteredSchema[]>;
  /** When, and as which refresh, the last sound listing of a subject began. */
  readonly listed: Map<string, { at: number; turn: number }>;
  turn: number;
  beganAt: number;
  refreshing: Promise<void> | undefined;
}

/**
 * Which schemas may be read on a topic: a schema id counts only when it is of one of the topic's subjects, so that no partner
 * can name a schema of somebody else. Ids that are known need no network. A flood of unknown ones costs one refresh of the
 * topic's lists a second, since a list tells of all ids at once.
 */
export class TopicSchemas {
  private readonly topics = new Map<string, Topic>();
  private readonly missing = new Lru<string, { at: number }>(MAX_MISSING);
  private readonly clock: Clock;
  private readonly pause: (ms: number) => Promise<void>;

  constructor(
    private readonly registry: SchemaRegistry,
    { clock = systemClock, pause = sleep }: { clock?: Clock; pause?: (ms: number) => Promise<void> } = {},
  ) {
    this.clock = clock;
    this.pause = (ms) => pause(ms);
  }

  /** What is in memory; says nothing about an id that is not. `id`: number, or guid in lower case. */
  peek(topic: string, subjects: readonly string[], id: number | string): RegisteredSchema | undefined {
    const schemas = this.topics.get(topic)?.known.get(id);
    if (schemas) for (const schema of schemas) if (subjects.includes(schema.subject)) return schema;
    return undefined;
  }

  /**
   * The schema of this id among the subjects. Undefined only when a listing that *began* at or after `seenAt` (when the record
   * was fetched, ms since the epoch) lacked it, for a schema may be registered just before its first record is written; an id
   * found missing so stays missing for 30 s. Rejects with RegistryUnavailable and nothing else.
   */
  find(
    topic: string,
    subjects: readonly string[],
    id: number | string,
    seenAt: number,
  ): Promise<RegisteredSchema | undefined> {
    const schema = this.peek(topic, subjects, id);
    return schema ? Promise.resolve(schema) : this.lookFor(topic, subjects, id, seenAt);
  }

  private async lookFor(
    name: string,
    subjects: readonly string[],
    id: number | string,
    seenAt: number,
  ): Promise<RegisteredSchema | undefined> {
    const topic = this.topicOf(name);
    for (const subject of subjects) topic.subjects.add(subject);
    const key = `${name} ${subjects.join(' ')} ${id}`;
    const asked = topic.turn;
    for (;;) {
      const schema = this.peek(name, subjects, id);
      if (schema) return schema;
      const now = this.now();
      const age = now - (this.missing.get(key)?.at ?? -Infinity);
      if (age >= 0 && age < MISSING_MS) return undefined;
      // What began after this call began after the record was seen, whatever the clock did meanwhile.
      const covers = (subject: string): boolean => {
        const listing = topic.listed.get(subject);
        return listing !== undefined && (listing.at >= seenAt || listing.turn > asked);
      };
      if (subjects.every(covers)) {
        this.missing.set(key, { at: now });
        return undefined;
      }
      await (topic.refreshing ??= this.refresh(topic).finally(() => (topic.refreshing = undefined)));
    }
  }

  private async refresh(topic: Topic): Promise<void> {
    const rest = topic.beganAt + REFRESH_MS - this.now();
    // More than a second can only be left when the clock was set back.
    if (rest > 0) await this.pause(Math.min(rest, REFRESH_MS));
    topic.beganAt = this.now();
    const listing = { at: topic.beganAt, turn: ++topic.turn };
    const subjects = [...topic.subjects];
    try {
      const lists = await Promise.all(subjects.map((subject) => this.registry.versions(subject, () => undefined)));
      for (const schema of lists.flat()) remember(topic, schema);
    } catch (error) {
      if (error instanceof RegistryUnavailable) throw error;
      throw new RegistryUnavailable(messageOf(error), { cause: error });
    }
    for (const subject of subjects) topic.listed.set(subject, listing);
  }

  private topicOf(name: string): Topic {
    let topic = this.topics.get(name);
    if (!topic) {
      topic = {
        subjects: new Set(),
        known: new Map(),
        listed: new Map(),
        turn: 0,
        beganAt: -Infinity,
        refreshing: undefined,
      };
      this.topics.set(name, topic);
    }
    return topic;
  }

  private now(): number {
    return this.clock.now().getTime();
  }
}

/** An id can be of several subjects: registries give the same content the same id. */
function remember({ known }: Topic, schema: RegisteredSchema): void {
  for (const id of schema.guid ? [schema.id, schema.guid.toLowerCase()] : [schema.id]) {
    const others = known.get(id)?.filter(({ subject }) => subject !== schema.subject) ?? [];
    known.set(id, [...others, schema]);
  }
}
