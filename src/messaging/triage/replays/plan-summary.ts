import { queryAnew, type Tx } from '../../../platform/database';
import type { ReplayPlan, SkippedGroup } from './replay';

const SAMPLES = 5;

type Summary = Omit<ReplayPlan, 'unknownIds' | 'truncated'>;

/** What the set that was frozen means, in four statements, however large it is. */
export async function summarize(tx: Tx, replayId: string): Promise<Summary & { partners: string[] }> {
  const byPartner = await queryAnew<{ partner: string; count: number; oldest: Date | null }>(
    tx,
    `SELECT p.partner, count(*) FILTER (WHERE i.outcome = 'planned')::int AS count,
       min(coalesce(p.first_failed_at, p.parked_at)) FILTER (WHERE i.outcome = 'planned') AS oldest
     FROM replay_item i JOIN parked_inbound p ON p.id = i.parked_id WHERE i.replay_id = :replayId GROUP BY 1 ORDER BY 2 DESC, 1`,
    { replayId },
  );
  const skipped = await queryAnew<SkippedGroup>(
    tx,
    `SELECT code, min(detail) AS detail, count(*)::int AS count, (array_agg(parked_id::text ORDER BY parked_id))[1:${SAMPLES}] AS samples
     FROM replay_item WHERE replay_id = :replayId AND outcome = 'skipped' GROUP BY code ORDER BY 3 DESC, 1`,
    { replayId },
  );
  const oldest = byPartner.flatMap((row) => row.oldest?.getTime() ?? []);
  return {
    count: byPartner.reduce((sum, { count }) => sum + count, 0),
    byPartner: byPartner.filter(({ count }) => count > 0).map(({ partner, count }) => ({ partner, count })),
    oldest: oldest.length > 0 ? new Date(Math.min(...oldest)).toISOString() : null,
    skipped,
    heldBehind: await heldBehind(tx, replayId),
    partners: byPartner.map(({ partner }) => partner),
  };
}

async function heldBehind(tx: Tx, replayId: string): Promise<ReplayPlan['heldBehind']> {
  const samples = await queryAnew<{ partner: string; key: string; messages: number; keys: number; all: number }>(
    tx,
    `SELECT h.partner, h.key, count(*)::int AS messages, (count(*) OVER ())::int AS keys, (sum(count(*)) OVER ())::int AS all
     FROM parked_inbound h JOIN (
       SELECT DISTINCT p.channel_id, p.key FROM replay_item i JOIN parked_inbound p ON p.id = i.parked_id
       WHERE i.replay_id = :replayId AND i.outcome = 'planned' AND p.key IS NOT NULL
     ) k ON k.channel_id = h.channel_id AND k.key = h.key
     WHERE h.state = 'held' AND h.holds GROUP BY h.channel_id, h.partner, h.key ORDER BY 3 DESC, h.channel_id, h.key LIMIT ${SAMPLES}`,
    { replayId },
  );
  const [first] = samples;
  return {
    keys: first?.keys ?? 0,
    messages: first?.all ?? 0,
    samples: samples.map(({ partner, key, messages }) => ({ partner, key, messages })),
  };
}
