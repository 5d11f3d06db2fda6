import { Conditions, type Database, IndexedReader, query, type Tx } from '../../platform/database';
import { NonRetriableError } from '../../platform/errors';
import { decodeCursor, type Page, pageOf, versionStale } from '../../platform/http';
import { groupJoin, IS_LETTER } from './dead-letter';

/** Dead letters of one cause. What is counted and seen is what the caller may see; one that is confined to partners reads no assignee and no note. */
export interface FailureGroup {
  fingerprint: string;
  /** Of assignee and note; 0 while nobody has set them. */
  version: number;
  open: number;
  /** The first ten, those with most first. */
  partners: string[];
  partnerCount: number;
  /** Of those that are open; where none is, of the resolved. */
  firstSeen: Date | null;
  lastSeen: Date | null;
  /** The newest of them, and what is said of it. */
  sample: string;
  code: string | null;
  type: string | null;
  pointer: string | null;
  failedIn: string | null;
  assignee: string | null;
  note: string | null;
}

/** Undefined: stays as it is; null: is taken away. */
export interface GroupChange {
  assignee?: string | null | undefined;
  note?: string | null | undefined;
}

type Scope = readonly string[] | null;

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Counted from the index alone; the CTE `counted` of {@link select}. */
const open = (where: Conditions) => `
  SELECT fingerprint, sum(n)::int AS open, min(first) AS first, coalesce(max(last), 'epoch') AS last, max(newest) AS sample,
    count(*)::int AS "partnerCount", (array_agg(partner ORDER BY n DESC, partner))[1:10] AS partners
  FROM (
    SELECT p.fingerprint, p.partner, count(*) AS n, min(p.first_failed_at) AS first, max(p.last_failed_at) AS last, max(p.id) AS newest
    FROM parked_inbound p WHERE p.state = 'dead' AND p.fingerprint IS NOT NULL AND ${where.toString()} GROUP BY 1, 2
  ) of_partner GROUP BY 1`;

/**
 * Groups as if none of their dead letters were open, by leaps over the index: its cost grows with causes and partners, not with a
 * million resolved ones.
 */
const known = (where: Conditions) => `
  WITH RECURSIVE leap AS (
    (SELECT p.fingerprint, p.partner FROM parked_inbound p WHERE ${IS_LETTER} AND p.fingerprint IS NOT NULL ORDER BY 1, 2 LIMIT 1)
    UNION ALL
    SELECT next.fingerprint, next.partner FROM leap, LATERAL (
      SELECT p.fingerprint, p.partner FROM parked_inbound p
      WHERE ${IS_LETTER} AND (p.fingerprint, p.partner) > (leap.fingerprint, leap.partner) ORDER BY 1, 2 LIMIT 1
    ) next
  )
  SELECT fingerprint, 0 AS open, min(oldest.at) AS first, coalesce(max(newest.at), 'epoch') AS last, max(newest.id) AS sample,
    count(*)::int AS "partnerCount", (array_agg(partner ORDER BY partner))[1:10] AS partners
  FROM (SELECT p.fingerprint, p.partner FROM leap p WHERE ${where.toString()}) seen, LATERAL (
    SELECT p.id, p.last_failed_at AS at FROM parked_inbound p
    WHERE ${IS_LETTER} AND p.fingerprint = seen.fingerprint AND p.partner = seen.partner ORDER BY p.id DESC LIMIT 1
  ) newest, LATERAL (
    SELECT p.first_failed_at AS at FROM parked_inbound p
    WHERE ${IS_LETTER} AND p.fingerprint = seen.fingerprint AND p.partner = seen.partner ORDER BY p.id LIMIT 1
  ) oldest GROUP BY 1`;

const COLUMNS = `s.fingerprint, coalesce(g.version, 0) AS version, s.open, s.partners, s."partnerCount", s.first AS "firstSeen", s.last AS "lastSeen",
  s.sample, p.code, p.type, p.pointer, p.failed_in AS "failedIn", g.assignee, g.note`;

/** Failures by their cause, and what staff say of it. */
export class FailureGroups {
  private readonly indexes: IndexedReader;

  constructor(database: Database) {
    this.indexes = new IndexedReader(database);
  }

  /**
   * Most open ones first, then those seen last. Later pages count what was there when the first one was asked for, so that a group
   * that grows meanwhile is not left out; one that shrinks may show again. Throws `cursor-invalid`.
   */
  async page(state: 'open' | 'all', scope: Scope, limit: number, cursor?: string): Promise<Page<FailureGroup>> {
    const [newest, count, last, fingerprint] =
      cursor === undefined
        ? [await this.newestId()]
        : decodeCursor(cursor, [/^\d{1,18}$/, /^\d{1,9}$/, TIME, /^[\x20-\x7e]{1,64}$/]);
    const counted = new Conditions().and('p.id <= :newest', { newest }).within('p.partner', scope);
    const resolved = new Conditions().within('p.partner', scope);
    const after = new Conditions().and('(open, last, fingerprint) < (:count, :last, :fingerprint)', {
      count,
      last,
      fingerprint,
    });
    const found = await this.indexes.rows<FailureGroup>(
      `WITH counted AS MATERIALIZED (${open(counted)}), grouped AS (
         SELECT * FROM counted ${state === 'all' ? `UNION ALL SELECT * FROM (${known(resolved)}) known WHERE fingerprint NOT IN (SELECT fingerprint FROM counted)` : ''}
       )
       SELECT ${COLUMNS} FROM (SELECT * FROM grouped WHERE ${after.toString()} ORDER BY open DESC, last DESC, fingerprint DESC LIMIT :limit) s
       JOIN parked_inbound p ON p.id = s.sample ${groupJoin(scope)}
       ORDER BY s.open DESC, s.last DESC, s.fingerprint DESC`,
      { ...counted.values, ...after.values, limit: limit + 1 },
    );
    return pageOf(found, limit, (group) => [
      newest ?? 0,
      group.open,
      group.lastSeen?.toISOString() ?? '',
      group.fingerprint,
    ]);
  }

  /** Undefined where no dead letter of this cause is kept that the caller may see. */
  async find(fingerprint: string, scope: Scope): Promise<FailureGroup | undefined> {
    const where = new Conditions().and('p.fingerprint = :fingerprint', { fingerprint }).within('p.partner', scope);
    const [row] = await this.indexes.rows<FailureGroup>(
      `WITH counted AS MATERIALIZED (${open(where)})
       SELECT ${COLUMNS} FROM (SELECT * FROM counted UNION ALL (
         SELECT p.fingerprint, 0, min(p.first_failed_at), coalesce(max(p.last_failed_at), 'epoch'), max(p.id), count(DISTINCT p.partner)::int,
           (array_agg(DISTINCT p.partner))[1:10]
         FROM parked_inbound p WHERE ${IS_LETTER} AND ${where.toString()} AND NOT EXISTS (SELECT 1 FROM counted) GROUP BY 1
       )) s JOIN parked_inbound p ON p.id = s.sample ${groupJoin(scope)}`,
      where.values,
    );
    return row;
  }

  /** Sets what is given. Throws `version-stale` when `version` is no longer the group's: of two at once, one wins. */
  async change(
    tx: Tx,
    fingerprint: string,
    version: number,
    change: GroupChange,
    by: string,
    now: Date,
  ): Promise<void> {
    if (change.assignee === undefined && change.note === undefined) {
      throw new NonRetriableError('request-invalid', 'Nothing is to be changed: give "assignee" or "note".');
    }
    const values = {
      ...{ fingerprint, version, by, now, assignee: change.assignee ?? null, note: change.note ?? null },
      ...{ setAssignee: change.assignee !== undefined, setNote: change.note !== undefined },
    };
    const rows =
      version === 0
        ? await query(
            tx,
            `INSERT INTO failure_group (fingerprint, assignee, note, updated_at, updated_by)
             VALUES (:fingerprint, :assignee, :note, :now, :by) ON CONFLICT DO NOTHING RETURNING 1`,
            values,
          )
        : await query(
            tx,
            `UPDATE failure_group SET version = version + 1, updated_at = :now, updated_by = :by,
               assignee = CASE WHEN :setAssignee::boolean THEN :assignee ELSE assignee END,
               note = CASE WHEN :setNote::boolean THEN :note ELSE note END
             WHERE fingerprint = :fingerprint AND version = :version RETURNING 1`,
            values,
          );
    if (rows.length === 0) throw versionStale();
  }

  private async newestId(): Promise<string> {
    const [row] = await this.indexes.rows<{ id: string }>(
      'SELECT coalesce(max(id), 0)::text AS id FROM parked_inbound',
    );
    return row?.id ?? '0';
  }
}
