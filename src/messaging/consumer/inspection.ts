import type { SchemaUse } from '../channels';
import type { Outbox } from '../outbox';
import { type Codec, RegistryUnavailable } from '../registry';
import { answersReady } from './answers-ready';
import type { WorkItem } from './batch-settler';
import { type ContractsByType, inspect } from './inspect';
import type { Portion } from './partner-queue';
import { Abandoned } from './patience';

/** What inspection needs to know. */
export interface Documents {
  contracts: ContractsByType;
  codec: Codec;
  /** Hears which schemas the records named. */
  schemas: Pick<SchemaUse, 'note'>;
  /** Makes ready what a document is answered with. */
  outbox: Pick<Outbox, 'ready'>;
}

/** The batches that run, as far as room for their transactions is concerned. */
export interface Crowd {
  /** Is there room for one more transaction? */
  hasRoom(): boolean;
  /** A batch has stepped aside. */
  onRoom(): void;
}

/** How often partitions are kept ours while a schema is looked up. */
const HEARTBEAT_MS = 1_000;
/**
 * So long a look-up is waited for in hand: a little longer than Patience is, which then gives the partitions back. It goes on
 * behind that, and its answer is there when the records come again.
 */
const IN_HAND_MS = 2_100;

/**
 * Names every record of a batch, in order, and has the schemas of the answers to it at hand, so that no handler ever waits for a
 * registry. Neither takes long as a rule; a batch for which a schema is looked up steps aside meanwhile: it holds no transaction,
 * so other partners' batches run, and it comes back when there is room.
 */
export class Inspection {
  private readonly returning: (() => void)[] = [];
  private readonly waits = new Set<LookUpWait>();
  private count = 0;

  constructor(
    private readonly documents: Documents,
    private readonly crowd: Crowd,
  ) {}

  /** How many batches have stepped aside. */
  get aside(): number {
    return this.count;
  }

  /**
   * The portions are one partner's. Rejects with RegistryUnavailable when a look-up fails or takes too long: then the partitions are
   * better given back.
   */
  async inspect(portions: readonly Portion[]): Promise<WorkItem[]> {
    const items = this.inspectAll(portions);
    const wait = new LookUpWait(portions, () => {
      this.count++;
      this.crowd.onRoom();
    });
    this.waits.add(wait);
    try {
      return await Promise.race([items, wait.over]);
    } finally {
      items.catch(() => undefined);
      this.waits.delete(wait);
      wait.end();
      if (wait.began) await this.comeBack();
    }
  }

  /** Lets batches back whose look-up has ended, as far as there is room. */
  letBack(): void {
    while (this.returning.length > 0 && this.crowd.hasRoom()) this.returning.shift()?.();
  }

  /** Waits for nothing and lets all of them back: nothing begins any more. */
  close(): void {
    for (const wait of this.waits) wait.abandon();
    for (const back of this.returning.splice(0)) back();
  }

  private async comeBack(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.returning.push(() => {
      this.count--;
      resolve();
    });
    this.letBack();
    await promise;
  }

  private async inspectAll(portions: readonly Portion[]): Promise<WorkItem[]> {
    const { contracts, codec, schemas } = this.documents;
    const items: WorkItem[] = [];
    for (const { work, records } of portions) {
      for (const record of records) {
        const inspected = await inspect(record, work.channel, contracts, codec, work.seenAt(record.offset));
        const { content, envelope, channel } = inspected;
        // Also of what can't be accepted: the partner uses the schema all the same.
        if (content.schemaId !== undefined) schemas.note(channel.id, envelope.type ?? '', content.schemaId);
        items.push({ work, inspected });
      }
    }
    const [first] = items;
    const asked = new Set(
      items.flatMap(({ inspected: { content, contract } }) => ('value' in content && contract ? [contract.name] : [])),
    );
    if (first) await answersReady(this.documents, asked, first.inspected.channel.partner);
    return items;
  }
}

/** Begins when an inspection did not end within its turn of the event loop: something is asked over the network. */
class LookUpWait {
  began = false;
  /** Rejects when it is not to be waited for any longer. */
  readonly over: Promise<never>;
  private readonly reject: (error: Error) => void;
  private readonly turn: NodeJS.Immediate;
  private beat: NodeJS.Timeout | undefined;
  private limit: NodeJS.Timeout | undefined;

  constructor(portions: readonly Portion[], onBegin: () => void) {
    const { promise, reject } = Promise.withResolvers<never>();
    this.over = promise;
    this.reject = reject;
    this.turn = setImmediate(() => {
      this.began = true;
      this.beat = setInterval(() => {
        for (const { work } of portions) if (!work.isGone) void work.heartbeat();
      }, HEARTBEAT_MS);
      this.limit = setTimeout(() => reject(new RegistryUnavailable('A schema is still being looked up.')), IN_HAND_MS);
      onBegin();
    });
  }

  abandon(): void {
    this.reject(new Abandoned('closing'));
  }

  end(): void {
    clearImmediate(this.turn);
    clearInterval(this.beat);
    clearTimeout(this.limit);
  }
}
