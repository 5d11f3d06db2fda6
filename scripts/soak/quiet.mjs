import { setTimeout as delay } from 'node:timers/promises';
import { readJournal } from '../demo/compare.mjs';
import { inboundRecordsLeft, withDatabase } from './gather.mjs';

/** So long nothing may change before the wait is given up. */
const GIVE_UP_MS = 60_000;

const OPEN = `SELECT
  (SELECT count(*)::int FROM exchange WHERE direction = 'out' AND state IN ('awaiting', 'acknowledged')) AS unanswered,
  (SELECT count(*)::int FROM parked_inbound p WHERE state = 'waiting' OR (state = 'held' AND NOT EXISTS (
     SELECT 1 FROM parked_inbound d WHERE d.state = 'dead' AND d.channel_id = p.channel_id AND d.key = p.key AND d.id < p.id))) AS waiting,
  (SELECT count(*)::int FROM notification WHERE state IN ('pending', 'sending')) AS untold`;

/** Waits until nothing is under way any more; what is left when nothing moves for a minute, in words. */
export async function untilQuiet(system, show) {
  let last = '';
  for (let since = Date.now(); ; await delay(500)) {
    const state = await describe(system).catch((error) => error.message);
    if (state === undefined) return undefined;
    show(state);
    if (state !== last) [last, since] = [state, Date.now()];
    else if (Date.now() - since > GIVE_UP_MS) return state;
  }
}

async function describe(system) {
  const [counts] = await withDatabase(system, async (client) => (await client.query(OPEN)).rows);
  const unread = await inboundRecordsLeft(system);
  const journal = readJournal(system.journal);
  const numbers = (kind) => new Set(journal.flatMap((line) => (line.kind === kind ? line.despatchNumber : [])));
  const receipts = numbers('receipt');
  const unreceipted = [...numbers('despatching')].filter((number) => !receipts.has(number)).length;
  const left = { ...counts, unread, unreceipted };
  if (Object.values(left).every((count) => count === 0)) return undefined;
  return `exchanges open ${left.unanswered}   waiting for a retry ${left.waiting}   not read yet ${left.unread}   despatches without receipt ${left.unreceipted}   notifications under way ${left.untold}`;
}
