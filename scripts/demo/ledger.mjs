import { accountInbound, accountOutbound, differences } from '../soak/account.mjs';
import { gather, withDatabase } from '../soak/gather.mjs';
import { untilQuiet } from '../soak/quiet.mjs';
import { showLedger, showTold } from '../soak/report.mjs';
import { accountTold } from '../soak/told.mjs';
import { readJournal } from './compare.mjs';
import { green, progress, red, say } from './terminal.mjs';

/** An edited message has its effect under its edit's id. */
const MENDED = `SELECT p.message_id AS id FROM parked_inbound p JOIN parked_edit e ON e.id = p.edit_id
  JOIN order_event o ON o.message_id::text = e.message_id::text`;

/**
 * Every record of both directions, from the topics themselves, held against what both sides recorded of it: each ended in exactly
 * one state, also those that wait or died. True when all of them come out even.
 */
export async function showAccount(system, accepted) {
  const rest = await untilQuiet(system, progress());
  if (rest) say(red(`  Not everything came to its end: ${rest}`));
  const garbage = unreadable(system);
  const kinds = await system.kinds();
  const { seen, told } = await withDatabase(system, async (database) => {
    const seen = await gather(system, database, garbage);
    const { rows } = await database.query(MENDED);
    for (const { effects } of seen.inbound) for (const { id } of rows) effects.add(id);
    return { seen, told: await accountTold(system, database, kinds) };
  });
  const outbound = accountOutbound(seen.outbound);
  const inbound = accountInbound(seen.inbound);
  showLedger(outbound, inbound);
  showTold(told);
  const ends = (state) => inbound.reduce((sum, { counts }) => sum + (counts[state] ?? 0), 0);
  const kept = `${ends('dead')} wait for people as dead letters, ${ends('discarded')} discarded`;
  say(`  records of partners that were no document: ${garbage.size}, of which ${kept}`);
  const faults = differences({ outbound, inbound, told, orders: seen.orders, accepted });
  say(`  messages without a recorded end: ${faults.length === 0 ? green(0) : red(faults.length)}`);
  for (const fault of faults.slice(0, 10)) say(red(`    ${fault}`));
  return faults.length === 0 && rest === undefined;
}

/** What partners wrote that is no document, by message id, with what it must have died of. */
function unreadable(system) {
  const garbage = readJournal(system.journal).filter(({ kind, code }) => kind === 'answered' && code === 'garbage');
  return new Map(
    garbage.map(({ id, partner }) => [id, { topic: `orders.${partner}.response.v1`, code: 'undecodable' }]),
  );
}
