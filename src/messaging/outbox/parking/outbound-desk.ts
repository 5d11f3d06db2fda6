import { randomUUID } from 'node:crypto';
import type { Clock } from '../../../platform/clock';
import { type Database, query, type Tx } from '../../../platform/database';
import { audit, type Caller, mayPartner } from '../../../staff';
import type { ChannelCatalog, PartnerState } from '../../channels';
import { type ParkedOutbound, parkedOf } from './parked-list';
import { laneNotParked, laneStopped, outboundNotDead, outboundUnknown } from './refusals';

/** What staff may do with what is parked. They write what they want; the relay that owns the outbox does it within a second. */
export class OutboundDesk {
  constructor(
    private readonly database: Database,
    private readonly channels: ChannelCatalog,
    private readonly clock: Clock,
  ) {}

  /** Topics that a caller may see; null: all. */
  async topicsOf({ partners }: Pick<Caller, 'partners'>): Promise<readonly string[] | null> {
    if (partners === null) return null;
    if ((await this.channels.currentVersion()) !== this.channels.version) await this.channels.load();
    return this.channels
      .all()
      .filter(({ partner }) => partners.includes(partner))
      .map(({ topic }) => topic);
  }

  /** The lane's next attempt is now. Throws `lane-not-parked`, `lane-paused`, `lane-suspended`. */
  async retryLane(topic: string, partition: number, reason: string | undefined, by: Caller): Promise<void> {
    const partner = await this.partnerOf(topic);
    if (!this.maySee(by, partner)) throw laneNotParked(topic, partition);
    await this.database.transaction(async (tx) => {
      const [lane] = await query<{ state: PartnerState | null }>(
        tx,
        `UPDATE parked_lane SET next_attempt_at = clock_timestamp() WHERE topic = :topic AND partition = :partition
         RETURNING (SELECT p.state FROM channel c JOIN partner p ON p.id = c.partner WHERE c.topic = parked_lane.topic) AS state`,
        { topic, partition },
      );
      if (!lane) throw laneNotParked(topic, partition);
      const { state } = lane;
      if (state === 'paused' || state === 'suspended') throw laneStopped(topic, state, partner ?? 'it');
      await audit(
        tx,
        { by, action: 'lane.retry', object: `lane/${topic}/${partition}`, partner, reason },
        this.clock.now(),
      );
    });
  }

  /** An outbound dead letter is sent again as it is, under its id, before what it holds. Throws `outbound-unknown`, `outbound-not-dead`. */
  retryMessage(seq: string, reason: string | undefined, by: Caller): Promise<ParkedOutbound> {
    return this.decide(seq, by, 'retry', reason, async (tx) => {
      await query(
        tx,
        `UPDATE parked_outbound SET state = 'retrying', replay_id = :id, replay_by = :by, replay_attempt = replay_attempt + 1
         WHERE seq = :seq`,
        { seq, id: randomUUID(), by: by.id },
      );
    });
  }

  /** An outbound dead letter is never sent; what it holds follows. Throws as {@link retryMessage}. */
  discard(seq: string, reason: string, by: Caller): Promise<ParkedOutbound> {
    return this.decide(seq, by, 'discard', reason, async (tx) => {
      await query(
        tx,
        `UPDATE parked_outbound SET state = 'discarded', discarded_by = :by, discard_reason = :reason, discarded_at = :now
         WHERE seq = :seq`,
        { seq, by: by.id, reason, now: this.clock.now() },
      );
    });
  }

  private async decide(
    seq: string,
    by: Caller,
    verb: 'retry' | 'discard',
    reason: string | undefined,
    work: (tx: Tx) => Promise<void>,
  ): Promise<ParkedOutbound> {
    const seen = (await parkedOf(this.database, [seq])).get(seq);
    const partner = seen && (await this.partnerOf(seen.topic));
    if (!seen || !this.maySee(by, partner)) throw outboundUnknown();
    return this.database.transaction(async (tx) => {
      await query(tx, 'SELECT FROM parked_outbound WHERE seq = :seq FOR UPDATE', { seq });
      const message = (await parkedOf(tx, [seq])).get(seq);
      if (!message) throw outboundUnknown();
      if (message.state !== 'dead') throw outboundNotDead(message);
      const { topic, partition, key, messageId } = message;
      await work(tx);
      await query(
        tx,
        `UPDATE parked_outbound_key SET next_attempt_at = clock_timestamp()
         WHERE topic = :topic AND partition = :partition AND key = :key`,
        { topic, partition, key },
      );
      const deed = { by, action: `outbound.${verb}`, object: `outbound/${seq}`, partner, reason };
      await audit(tx, { ...deed, detail: { topic, partition, key, messageId } }, this.clock.now());
      const changed = (await parkedOf(tx, [seq])).get(seq);
      return changed ?? message;
    });
  }

  private async partnerOf(topic: string): Promise<string | undefined> {
    if (!this.channels.find(topic)) await this.channels.load();
    return this.channels.find(topic)?.partner;
  }

  /** A topic that is nobody's is for those who may see all. */
  private maySee(by: Caller, partner: string | undefined): boolean {
    return partner === undefined ? by.partners === null : mayPartner(by, partner);
  }
}
