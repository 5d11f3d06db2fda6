import { randomUUID } from 'node:crypto';
import {
  type DespatchAdvice,
  despatchReceipt,
  errorReport,
  orderCancellation,
  orderRequest,
  type OrderRequest,
  topicFor,
} from '../../contracts';
import { type Codec, createCodec, createSchemaRegistry, type SchemaRegistry } from '../../messaging/registry';
import type { Access } from '../access';
import { connectionOf, partitionFor } from '../connection';
import { answerId, type Party } from '../message';
import { ANSWERS, type Heard, hear } from './heard';
import { type Exchange, type Finding, Ledger } from './ledger';
import { RecordWriter, type Written } from './record-writer';
import { ASKED, orderDocument, recordOf, reportOf } from './requests';
import { type ReadRecord, TopicReader } from './topic-reader';

export interface DeskSettings extends Access {
  party: Party;
  /** Are what can't be read and advices answered? Not where the company itself does so. */
  isAlone: boolean;
  /** Is what can't be read answered, too, where it is about nothing that was asked here? */
  hearsAll?: boolean;
}

/** Who follows what goes out and comes in. */
export interface DeskEvents {
  onWritten?: (exchange: Exchange, what: 'request' | 'again') => void;
  onHeard?: (finding: Finding, heard: Heard) => void;
  log: (line: string) => void;
}

/** A request with its bytes, so that it can be written again as it is. */
export interface Prepared {
  exchange: Exchange;
  record: Written;
}

/**
 * The company's side of the exchanges with one partner: writes requests, reads the answers, judges each, answers despatch advices with receipts and what it can't read or
 * accept with error reports. Needs no group: it reads from where the topics end when it starts.
 */
export class CompanyDesk {
  readonly ledger: Ledger;
  readonly registry: SchemaRegistry | undefined;
  readonly codec: Codec;
  private readonly reader: TopicReader;
  private readonly writer: RecordWriter;
  private readonly waiting = new Set<() => void>();
  private partitions = 0;

  constructor(
    private readonly settings: DeskSettings,
    private readonly events: DeskEvents,
  ) {
    const { party, registry } = settings;
    this.ledger = new Ledger(settings.hearsAll);
    this.registry = registry && createSchemaRegistry(registry);
    this.codec = createCodec(this.registry);
    const connection = connectionOf(settings, `simulator-company-${party.id}`);
    const topics = [...new Set(ANSWERS.map((contract) => topicFor(contract, party.id)))];
    this.reader = new TopicReader(connection, topics, (records) => this.take(records), events.log);
    this.writer = new RecordWriter(connection, events.log);
  }

  get party(): Party {
    return this.settings.party;
  }

  get requestTopic(): string {
    return topicFor(orderRequest, this.party.id);
  }

  /** Resolves when everything is there that a request needs: brokers, rights, topics, schemas. */
  async start(): Promise<void> {
    for (const contract of ASKED) {
      await this.codec.ready(contract, { topic: topicFor(contract, this.party.id), format: this.party.format });
    }
    this.partitions = await this.reader.partitionsOf(this.requestTopic);
    await this.reader.start();
  }

  async close(): Promise<void> {
    await this.reader.close();
    await this.writer.close();
    await this.registry?.close();
  }

  /** An order that is not written yet. Rejects as the codec does. */
  async order(
    orderNumber: string,
    articles: readonly string[],
    pieces = '2',
  ): Promise<Prepared & { document: OrderRequest }> {
    const document = orderDocument(orderNumber, articles, pieces, new Date());
    return { ...(await this.prepare('order', document)), document };
  }

  /** A cancellation that is not written yet. */
  cancellation(orderNumber: string): Promise<Prepared> {
    const document = { orderNumber, issuedAt: new Date().toISOString(), reason: 'Ordered to try the cancellation.' };
    return this.prepare('cancellation', document);
  }

  private async prepare(
    kind: Exchange['kind'],
    document: OrderRequest | Parameters<typeof recordOf>[1],
  ): Promise<Prepared> {
    const [id, correlationId] = [randomUUID(), randomUUID()];
    const order = (document as { orderNumber: string }).orderNumber;
    const exchange: Exchange = { kind, order, id, correlationId, writtenAt: undefined, answers: [] };
    const contract = kind === 'order' ? orderRequest : orderCancellation;
    const record = await recordOf(
      contract,
      document,
      { id, correlationId, time: new Date().toISOString() },
      this.tools,
    );
    this.ledger.opened(exchange, kind === 'order' ? (document as OrderRequest) : undefined);
    return { exchange, record };
  }

  /** Writes requests, in this order; one that was written before goes again, byte for byte. */
  async write(...requests: readonly Prepared[]): Promise<void> {
    for (const { exchange } of requests) {
      this.events.onWritten?.(exchange, exchange.writtenAt === undefined ? 'request' : 'again');
      // Before it is: an answer may be here before the broker has said that the request is.
      exchange.writtenAt ??= Date.now();
    }
    await this.writer.write(requests.map(({ record }) => record));
  }

  /** Anything at all. */
  writeRaw(records: readonly Written[]): Promise<void> {
    return this.writer.write(records);
  }

  /** Looks again with every record that comes, until there is a value or the time is over: then undefined. */
  async until<T>(look: () => T | undefined, withinMs: number): Promise<T | undefined> {
    const end = Date.now() + withinMs;
    for (;;) {
      const found = look();
      const left = end - Date.now();
      if (found !== undefined || left <= 0) return found;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(done, left);
        const { waiting } = this;
        function done() {
          clearTimeout(timer);
          waiting.delete(done);
          resolve();
        }
        waiting.add(done);
      });
    }
  }

  /** The partition of a key, as every client of Kafka's computes it. */
  partitionOf(key: string): number {
    return partitionFor(key, this.partitions);
  }

  private get tools() {
    return { party: this.party, codec: this.codec };
  }

  private async take(records: readonly ReadRecord[]): Promise<void> {
    const heardNow: Heard[] = [];
    // First all of them: where the registry can't be asked none is taken, and they are read again.
    for (const record of records) heardNow.push(await hear(record, this.party, this.codec, Date.now()));
    for (const heard of heardNow) {
      const finding = this.ledger.take(heard);
      this.events.onHeard?.(finding, heard);
      if (this.settings.isAlone) this.reply(finding, heard);
    }
    for (const wake of [...this.waiting]) wake();
  }

  /** In the background: to write may take long, and reading goes on. A repeat is answered as the first was, under the same id. */
  private reply(finding: Finding, heard: Heard): void {
    const { id: causationId, correlationId } = heard.envelope;
    const now = new Date();
    const cause = causationId ?? `${heard.topic}/${heard.partition}/${heard.offset}`;
    const occasion = (what: string) => ({
      id: answerId(cause, what),
      time: now.toISOString(),
      correlationId,
      causationId,
    });
    const write = async (made: Promise<Written>) => this.writer.write([await made]);
    let writing: Promise<void> | undefined;
    if (finding.kind === 'fault') {
      const report = reportOf(heard, finding.fault, now);
      writing = write(recordOf(errorReport, report, occasion(`report/${heard.offset}`), this.tools));
    } else if (finding.kind === 'despatched' && !('code' in heard.said)) {
      const { orderNumber, despatchNumber, issuedAt } = heard.said.document as DespatchAdvice;
      const receipt = { orderNumber, despatchNumber, issuedAt, ...finding.receipt };
      // Every byte follows from the advice: what answers a repeat is a repeat.
      writing = write(recordOf(despatchReceipt, receipt, { ...occasion('receipt'), time: issuedAt }, this.tools));
    }
    writing?.catch((error: unknown) => this.events.log(`not answered (${(error as Error).message})`));
  }
}
