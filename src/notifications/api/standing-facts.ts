import type { Database } from '../../platform/database';
import type { Config } from '../../platform/config';
import { quietUntil } from '../domain/quiet-hours';
import { type Standing, standingInWords } from '../domain/standing';
import { crashPolicyOf } from '../domain/kind';
import { kindOf } from '../kinds/catalogue';
import type { StoredNotification } from '../reading/stored-notification';
import { QUIET_COLUMNS, type QuietColumns, quietOf } from '../receivers/receiver-rows';
import { isConfigured } from '../channels/installation';

/** What surrounds a notification: by the database's clock, as breakers and leases are. */
interface Facts extends QuietColumns {
  id: string;
  now: Date;
  failingSince: Date | null;
  openUntil: Date | null;
  disabledAt: Date | null;
  disabledReason: string | null;
  lastCode: string | null;
  begunAt: Date | null;
  endedAt: Date | null;
  notifier: string | null;
  /** A provider refused its address for good. */
  marked: boolean;
}

const FACTS = `
  SELECT n.id, now(), ${QUIET_COLUMNS}, p.failing_since AS "failingSince", p.open_until AS "openUntil", p.disabled_at AS "disabledAt",
    p.disabled_reason AS "disabledReason", p.last_code AS "lastCode", a.begun_at AS "begunAt", a.ended_at AS "endedAt", a.notifier, b.address IS NOT NULL AS marked
  FROM notification n LEFT JOIN notification_receiver r ON r.id = n.receiver LEFT JOIN notification_provider p ON p.name = n.provider
  LEFT JOIN notification_bad_address b ON b.channel = n.channel AND b.address = n.address
  LEFT JOIN LATERAL (SELECT begun_at, ended_at, notifier FROM notification_attempt WHERE notification_id = n.id AND action = 'send'
    ORDER BY number DESC LIMIT 1) a ON true
  WHERE n.id = ANY(:ids::uuid[])`;

/** Where each of these stands, in words, and whether its address is marked, by id. */
export async function standingsOf(
  database: Database,
  config: Config,
  rows: readonly StoredNotification[],
): Promise<ReadonlyMap<string, { words: string; marked: boolean }>> {
  if (rows.length === 0) return new Map();
  const found = await database.query<Facts>(FACTS, { ids: rows.map(({ id }) => id) });
  const facts = new Map(found.map((one) => [one.id, one]));
  return new Map(
    rows.flatMap((row) => {
      const around = facts.get(row.id);
      if (!around) return [];
      const words = standingInWords(standingOf(row, around, config), around.now);
      return [[row.id, { words, marked: around.marked }] as const];
    }),
  );
}

function standingOf(row: StoredNotification, facts: Facts, config: Config): Standing {
  const kind = kindOf(row.kind);
  const quiet = kind?.quietHours === 'respect' ? quietOf(facts) : null;
  const { failingSince, openUntil, disabledAt, disabledReason, lastCode, begunAt, endedAt, notifier, marked } = facts;
  const configured = isConfigured(config, row.channel);
  const { provider: name, channel } = row;
  return {
    ...{ ...row, marked },
    crash: kind && crashPolicyOf(kind, row.channel),
    quietUntil: quiet && quietUntil(quiet, facts.now),
    provider: { name, channel, configured, failingSince, openUntil, disabledAt, disabledReason, lastCode },
    lastAttempt: begunAt && { begunAt, endedAt, notifier: notifier ?? '' },
  };
}
