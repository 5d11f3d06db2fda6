import { type Database, query, type Tx } from '../platform/database';
import type { Partner } from './partner.entity';

/** A {@link Partner} as a row of the table is read. */
export const COLUMNS =
  'id, name, state, version, state_since AS "stateSince", state_reason AS "stateReason", state_by AS "stateBy", created_at AS "createdAt"';
const BY_ID = `SELECT ${COLUMNS} FROM partner WHERE id = :id`;
/** How long a known partner is believed without asking: an order must not cost a query for a row that hardly ever changes. */
const CACHE_MS = 5000;

/** Who our partners are. */
export class Partners {
  private readonly known = new Map<string, { partner: Partner; until: number }>();

  constructor(private readonly database: Database) {}

  /**
   * From memory for up to 5 s; an unknown id is always looked up.
   * @param tx the transaction that the caller is in: to wait for another connection meanwhile, it would hold its own
   */
  async find(id: string, tx?: Tx): Promise<Partner | undefined> {
    const cached = this.known.get(id);
    if (cached && cached.until > performance.now()) return cached.partner;
    const [partner] = tx ? await query<Partner>(tx, BY_ID, { id }) : await this.database.query<Partner>(BY_ID, { id });
    if (partner) this.known.set(id, { partner, until: performance.now() + CACHE_MS });
    else this.known.delete(id);
    return partner;
  }

  list(): Promise<Partner[]> {
    return this.database.query<Partner>(`SELECT ${COLUMNS} FROM partner ORDER BY id`);
  }

  /** Adds the partner, or leaves the one that is there. */
  async add(tx: Tx, partner: Pick<Partner, 'id' | 'name' | 'createdAt'>): Promise<void> {
    await query(
      tx,
      `INSERT INTO partner (id, name, created_at) VALUES (:id, :name, :createdAt) ON CONFLICT (id) DO NOTHING`,
      { ...partner },
    );
  }
}
