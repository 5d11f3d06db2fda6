import { type ErrorReport, errorReport, topicFor, typeOf } from '../../contracts';
import type { Tx } from '../../platform/database';
import { messageOf } from '../../platform/errors';
import { reportCode } from '../../platform/http';
import type { Logger } from '../../platform/telemetry';
import type { ChannelCatalog } from '../channels';
import type { Outbox, PreparedMessage } from '../outbox';
import type { Failure } from './attempt';
import { thrownOf } from './failure';
import type { InspectedRecord, Refusal } from './inspect';
import { nameUuid, placeOf } from './record-identity';
import { isIdText, storableText } from './text';

/** A record that is not tried any more. */
export interface DeadRecord {
  inspected: InspectedRecord;
  inboxId: string;
  outcome: Refusal;
  /** The replay that let it live once more: each death has a report of its own. */
  replayId?: string | undefined;
}

/** Those of them that died of this attempt. */
export function deadOf(
  records: readonly (Omit<DeadRecord, 'outcome'> & { failure: Failure | undefined })[],
): DeadRecord[] {
  return records.flatMap(({ inspected, inboxId, replayId, failure }) =>
    failure?.state === 'dead' ? { inspected, inboxId, replayId, outcome: failure.outcome } : [],
  );
}

/** Stands for what went wrong inside us. */
const INSIDE = 'not-processed';
/** What another partner's exchange is called: word for word what one is called that never was. */
const NO_EXCHANGE = { code: 'exchange-unknown', detail: 'No request has this correlation id.' };
const REPORT_TYPE = typeOf(errorReport);

/** Tells partners on their error topic which of their records died, and why. */
export class ErrorReports {
  /** Partners from before there were error topics. */
  private readonly unreachable = new Set<string>();

  constructor(
    private readonly outbox: Outbox,
    private readonly channels: ChannelCatalog,
    private readonly logger: Logger,
  ) {}

  /**
   * Adds the reports in the transaction that records these outcomes: one death, one report, under one id for ever. Needs no
   * network, since reports are plain JSON. A report that can't be made is left out, not its record's outcome.
   */
  async add(tx: Tx, records: readonly DeadRecord[], now: Date): Promise<void> {
    const messages: PreparedMessage[] = [];
    for (const record of records) {
      const message = this.mayTell(record) ? await this.prepare(record, now) : undefined;
      if (message) messages.push(message);
    }
    await this.outbox.add(tx, messages);
  }

  private mayTell({ inspected: { channel, envelope } }: DeadRecord): boolean {
    // Two systems that report each other's reports would never end.
    if (envelope.type === REPORT_TYPE) return false;
    const { partner } = channel;
    // Only what is in memory: to look it up here would take a second connection. New channels are read as they come.
    if (this.channels.find(topicFor(errorReport, partner))) return true;
    if (!this.unreachable.has(partner)) {
      this.unreachable.add(partner);
      this.logger.warn(
        { partner, code: 'channel-unknown' },
        `what dies of this partner's records is not reported to it, for it has no error topic: run "parley partner add ${partner}" again, with the options of the first time`,
      );
    }
    return false;
  }

  private async prepare(record: DeadRecord, now: Date): Promise<PreparedMessage | undefined> {
    const { channel, envelope } = record.inspected;
    try {
      return await this.outbox.prepare<ErrorReport>({
        contract: errorReport,
        partner: channel.partner,
        value: documentOf(record, now),
        id: nameUuid([REPORT_TYPE, channel.topic, record.inboxId, ...(record.replayId ? [record.replayId] : [])]),
        time: now,
        aggregateType: errorReport.name,
        ...fit({ correlationId: envelope.correlationId, causationId: envelope.id }),
      });
    } catch (error) {
      const reason = messageOf(error);
      this.logger.error({ partner: channel.partner, code: 'report-failed', reason }, 'an error report cannot be made');
      return undefined;
    }
  }
}

function documentOf({ inspected, outcome }: DeadRecord, now: Date): ErrorReport {
  const { record, envelope } = inspected;
  const { code, detail, pointer } = told(outcome);
  const page = reportCode(code);
  return {
    subject: subjectOf(inspected),
    type: page?.page ?? '/docs/problems',
    title: page?.title ?? 'The record cannot be applied',
    code,
    detail: storableText(detail, 2000),
    ...(pointer === undefined ? {} : { pointer: storableText(pointer, 1000) }),
    topic: record.topic,
    partition: record.partition,
    offset: String(record.offset),
    ...fit({ messageId: envelope.id, messageType: envelope.type, correlationId: envelope.correlationId }),
    reportedAt: now.toISOString(),
  };
}

/**
 * What of an outcome may leave the house. A decision's words are written for partners; an exception's are not: of it only a
 * code that is explained to partners anyway, and that code's own title for a detail.
 */
function told(outcome: Refusal): { code: string; detail: string; pointer?: string } {
  if (outcome.code === 'exchange-foreign' || outcome.code === NO_EXCHANGE.code) return NO_EXCHANGE;
  if (thrownOf(outcome)) {
    const code = reportCode(outcome.code) ? outcome.code : INSIDE;
    return { code, detail: `${reportCode(code)?.title}.` };
  }
  return /^[a-z][a-z0-9-]{0,63}$/.test(outcome.code) ? outcome : { ...outcome, code: INSIDE };
}

/** The record's key where that is text; else its place. */
function subjectOf({ record, key }: InspectedRecord): string {
  return key !== null && record.key?.equals(Buffer.from(key)) ? key : storableText(placeOf(record));
}

/** Those members that are fit to be told and stored. */
function fit<K extends string>(members: Record<K, string | undefined>): Partial<Record<K, string>> {
  const entries = Object.entries<string | undefined>(members).filter(
    ([, text]) => text !== undefined && isIdText(text),
  );
  return Object.fromEntries(entries) as Partial<Record<K, string>>;
}
