import type { Database } from '../../../platform/database';
import type { Channel, ChannelCatalog } from '../../channels';
import { answersReady } from '../answers-ready';
import { infrastructureOf } from '../failure';
import type { ContractsByType, InspectedRecord } from '../inspect';
import type { Documents } from '../inspection';
import type { AttemptMarks, AttemptVerdict } from './attempt-marks';
import type { Sequence } from './drain-transaction';
import type { DueMessages } from './due-messages';
import { inspectStored, type InspectedMessage } from './inspect-stored';
import { type StoredMessage, storedMessages } from './stored-message';

/** Most messages of one transaction, as of a consumer's batch. */
const MOST = 500;

const NO_CONTRACTS: Documents['contracts'] = new Map();

const NOTHING_KNOWN: AttemptVerdict = { condemned: new Map(), only: undefined };

/** Reads what is due and makes it ready for a transaction: everything that may ask a registry is done here, with no lock in hand. */
export class DrainReader {
  constructor(
    private readonly database: Database,
    private readonly due: DueMessages,
    private readonly channels: ChannelCatalog,
    private readonly documents: Pick<Documents, 'contracts' | 'codec' | 'outbox'>,
    private readonly marks: AttemptMarks | undefined,
  ) {}

  /** What of this partner is to be tried now; undefined: nothing is due. Then {@link ended} must follow. */
  async read(partner: string, now: Date): Promise<Sequence[] | undefined> {
    const all = await this.due.take(partner, MOST, now);
    if (all.length === 0) return undefined;
    const verdict =
      (await this.marks?.begin(
        partner,
        all.map(({ ids }) => ids),
      )) ?? NOTHING_KNOWN;
    const suspect = verdict.only === undefined ? undefined : all[verdict.only];
    const due = suspect ? [{ ...suspect, ids: suspect.ids.slice(0, 1) }] : all;
    const stored = await storedMessages(
      this.database,
      due.flatMap(({ ids }) => ids),
    );
    const inspector = new Inspector(this.channels, this.documents, verdict);
    const sequences: Sequence[] = [];
    const away: string[] = [];
    for (const sequence of due) {
      // Somebody had it since it was found: what was found behind it, and what its marks said, was of before.
      if (stored.get(sequence.head)?.version !== sequence.version) continue;
      const messages = await inspector.inspectAll(sequence.ids.map((id) => stored.get(id)));
      if (messages.length > 0) sequences.push({ ...sequence, ids: sequence.ids.slice(0, messages.length), messages });
      else away.push(sequence.head);
    }
    if (away.length > 0) await this.due.postpone(away, now);
    return sequences;
  }

  /** Nothing of the partner is in hand any more. */
  async ended(partner: string): Promise<void> {
    await this.marks?.end(partner);
  }
}

/** Inspects the messages of one step. */
class Inspector {
  /** Topics for which the registry has not answered: it is not asked for each of their messages, which may take seconds. */
  private readonly away = new Set<string>();
  private readonly ready = new Set<string>();

  constructor(
    private readonly channels: ChannelCatalog,
    private readonly documents: Pick<Documents, 'contracts' | 'codec' | 'outbox'>,
    private readonly verdict: AttemptVerdict,
  ) {}

  /** Up to the first one that can't be inspected now. */
  async inspectAll(sequence: readonly (StoredMessage | undefined)[]): Promise<InspectedMessage[]> {
    const messages: InspectedMessage[] = [];
    for (const stored of sequence) {
      const message = stored && (await this.inspect(stored));
      if (!message) break;
      messages.push(message);
    }
    return messages;
  }

  private async inspect(stored: StoredMessage): Promise<InspectedMessage | undefined> {
    const { topic } = stored;
    const channel = await this.channelOf(topic);
    if (!channel || this.away.has(topic)) return undefined;
    try {
      const { contracts, codec } = this.documents;
      const condemned = this.verdict.condemned.get(stored.id);
      // Its value may be what ends processes: it is not read.
      const message = await inspectStored(stored, channel, condemned ? NO_CONTRACTS : contracts, codec);
      const refusal = condemned ?? message.refusal;
      if (condemned) return { ...message, inspected: withContract(message.inspected, contracts), refusal };
      const { contract } = message.inspected;
      if (!refusal && contract && !this.ready.has(contract.name)) {
        await answersReady(this.documents, new Set([contract.name]), channel.partner);
        this.ready.add(contract.name);
      }
      return { ...message, refusal };
    } catch (error) {
      if (infrastructureOf(error) !== 'registry') throw error;
      this.away.add(topic);
      return undefined;
    }
  }

  /** A channel never goes; this copy of them may only lack new ones. */
  private async channelOf(topic: string): Promise<Channel | undefined> {
    if (!this.channels.find(topic)) await this.channels.load();
    return this.channels.find(topic);
  }
}

/** What its contract says of its key counts for what is not read, too. */
const withContract = (inspected: InspectedRecord, contracts: ContractsByType): InspectedRecord => ({
  ...inspected,
  contract: contracts.get(inspected.envelope.type ?? ''),
});
