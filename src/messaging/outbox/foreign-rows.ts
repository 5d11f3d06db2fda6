import type { Client } from 'pg';
import { type CursorState, LeaseLostError, STATE_COLUMNS, type StateRow, toState } from './cursor';
import { SEQUENCE_POSITION } from './read-query';

export async function currentSystemIdentifier(client: Client): Promise<string> {
  const { rows } = await client.query<{ id: string }>('SELECT system_identifier AS id FROM pg_control_system()');
  return rows[0]?.id ?? '';
}

/**
 * The database was restored into another cluster (dump and restore): the snapshots of the state row speak of transaction ids that
 * this cluster gives out anew. Everything above the low-water mark is sent again as it lies, without looking at ids, and the
 * cursor starts over with a snapshot of this cluster.
 *
 * The lock waits for transactions that have written outbox rows and for no others; the statement behind it therefore sees every row
 * up to the sequence's position, and a row that is written later has a number above it. Rows that this cluster wrote before the
 * relay noticed are above the low-water mark too, so they can't be mistaken for sent ones.
 */
export async function adoptForeignRows(client: Client, epoch: bigint, systemIdentifier: string): Promise<CursorState> {
  await client.query('BEGIN');
  try {
    await client.query(`SET LOCAL lock_timeout = '3s'`);
    await client.query('LOCK TABLE ONLY outbox_message IN SHARE MODE');
    const { rows } = await client.query<StateRow>(
      `WITH position AS MATERIALIZED (SELECT (${SEQUENCE_POSITION}) AS seq)
       UPDATE outbox_cursor SET done = pg_current_snapshot(), win = pg_current_snapshot(), hi = position.seq,
         last_seq = CASE WHEN hi <= foreign_upto THEN last_seq ELSE floor_xmin END,
         floor_xmax = position.seq, floor_xmin = position.seq, foreign_upto = position.seq, system_identifier = $2
       FROM position WHERE epoch = $1 RETURNING ${STATE_COLUMNS}`,
      [epoch, systemIdentifier],
    );
    const [row] = rows;
    if (!row) throw new LeaseLostError();
    await client.query('COMMIT');
    return toState(row);
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}
