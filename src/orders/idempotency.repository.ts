import { query, type Tx } from '../platform/database';
import type { IdempotencyKey } from './order.repository';

/** What the request with an Idempotency-Key did: the step of the order's history that it made. */
export interface UsedKey {
  requestHash: Buffer;
  orderNumber: string;
  version: number;
}

/** Idempotency keys of requests that come alone; those of placed orders are claimed with their orders, many at a time. */
export class IdempotencyRepository {
  /** Takes the try-lock on a key (see `lockOf`) until the transaction ends; false: it is being used elsewhere. Never waits. */
  async tryLock(tx: Tx, keyLock: string): Promise<boolean> {
    const [row] = await query<{ locked: boolean }>(tx, 'SELECT pg_try_advisory_xact_lock(:keyLock::bigint) AS locked', {
      keyLock,
    });
    return row?.locked ?? false;
  }

  /** What an earlier request with this key did. A later statement than {@link tryLock}: it sees what committed before the lock was free. */
  async used(tx: Tx, { caller, key }: IdempotencyKey): Promise<UsedKey | undefined> {
    const [row] = await query<UsedKey>(
      tx,
      `SELECT request_hash AS "requestHash", order_number AS "orderNumber", version FROM idempotency_key WHERE caller = :caller AND key = :key`,
      { caller, key },
    );
    return row;
  }

  /** Records what the request with this key did; its try-lock is held and {@link used} found nothing. */
  async use(tx: Tx, { caller, key }: IdempotencyKey, done: UsedKey, now: Date): Promise<void> {
    await query(
      tx,
      `INSERT INTO idempotency_key (caller, key, request_hash, order_number, version, created_at)
       VALUES (:caller, :key, :requestHash, :orderNumber, :version, :now)`,
      { caller, key, ...done, now },
    );
  }
}
