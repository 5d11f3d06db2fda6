import { type Database, query, type Tx } from '../../../platform/database';

/** Why a channel of a suspended partner is paused: as much is kept as may be. */
export const SUSPENDED_FULL = 'suspended-full';

/** A channel that is not read for now; its offsets stay, nothing is lost. */
export interface ChannelPause {
  channelId: number;
  since: Date;
  /** `flood`, {@link SUSPENDED_FULL}, or `staff`. */
  code: string;
  /** One sentence for people. */
  reason: string;
  /** Who paused it; `parley` for a flood. */
  pausedBy: string;
  /** The broker may delete what is unread from then on; null: nobody knows yet, or never. */
  keptUntil: Date | null;
}

/** Consumers give the channel's partitions back within seconds. False: it is paused already, and stays so for the first reason. */
export async function pauseChannel(
  tx: Tx,
  pause: Omit<ChannelPause, 'since' | 'keptUntil'>,
  now: Date,
): Promise<boolean> {
  const rows = await query(
    tx,
    `INSERT INTO channel_pause (channel_id, since, code, reason, paused_by)
     VALUES (:channelId, :now, :code, :reason, :pausedBy) ON CONFLICT (channel_id) DO NOTHING RETURNING channel_id`,
    { ...pause, now },
  );
  return rows.length > 0;
}

/**
 * Consumers read the channel again within seconds. What died on it before counts for a flood no more: one allowance of new
 * dead letters comes through before it pauses again. False: it was not paused.
 */
export async function resumeChannel(tx: Tx, channelId: number, now: Date): Promise<boolean> {
  const rows = await query(tx, 'DELETE FROM channel_pause WHERE channel_id = :channelId RETURNING channel_id', {
    channelId,
  });
  if (rows.length === 0) return false;
  await query(
    tx,
    `INSERT INTO channel_allowance (channel_id, since) VALUES (:channelId, :now)
     ON CONFLICT (channel_id) DO UPDATE SET since = EXCLUDED.since`,
    { channelId, now },
  );
  return true;
}

/** Channels of a suspended partner that were paused because too much is kept: see `KeptLimit`. They are read again within seconds. */
export async function liftFullPauses(tx: Tx, partner: string): Promise<void> {
  await query(
    tx,
    `DELETE FROM channel_pause p USING channel c WHERE c.id = p.channel_id AND c.partner = :partner AND p.code = '${SUSPENDED_FULL}'`,
    { partner },
  );
}

/** Every channel that is paused now, the oldest pause first. */
export function pausedChannels(database: Database): Promise<ChannelPause[]> {
  return database.query<ChannelPause>(
    'SELECT channel_id AS "channelId", since, code, reason, paused_by AS "pausedBy", kept_until AS "keptUntil" FROM channel_pause ORDER BY since, channel_id',
  );
}
