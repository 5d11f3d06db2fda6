import { Conditions, type Database, IndexedReader } from '../../platform/database';
import { decodeCursor, type Page, pageOf } from '../../platform/http';
import { type DeadLetter, groupJoin, IS_LETTER, LETTER_COLUMNS, typesOf } from './dead-letter';

export interface DeadLetterFilter {
  state: 'open' | 'resolved' | 'all';
  partner?: string | undefined;
  topic?: string | undefined;
  /** Name of a contract, or a `ce_type`. */
  contract?: string | undefined;
  code?: string | undefined;
  fingerprint?: string | undefined;
  /** Key of the record. */
  order?: string | undefined;
  /** Failed last at or after. */
  since?: Date | undefined;
}

/** `partners` is what the caller may see; null: all. */
type Scope = readonly string[] | null;

/** Constants, word for word as the partial indexes have them. */
const STATES = {
  open: `p.state = 'dead'`,
  resolved: `${IS_LETTER} AND p.state IN ('processed', 'discarded')`,
  all: IS_LETTER,
} as const;

/** A replay that this message was in. */
export interface LetterReplay {
  id: string;
  state: string;
  outcome: string;
  code: string | null;
  detail: string | null;
  at: Date | null;
}

export interface LetterAttempt {
  at: string;
  code: string;
  detail: string | null;
}

/** What an exception left, for staff. */
export interface LetterHistory {
  rootCause: string | null;
  attemptLog: LetterAttempt[];
}

/** The record as it came. */
export interface LetterContent {
  type: string | null;
  topic: string;
  pointer: string | null;
  rawKey: Buffer | null;
  rawValue: Buffer | null;
  headerNames: Buffer[];
  headerValues: (Buffer | null)[];
}

/** Reads parked messages for people. */
export class DeadLetterList {
  private readonly indexes: IndexedReader;

  constructor(private readonly database: Database) {
    this.indexes = new IndexedReader(database);
  }

  /** Newest first by id, which is also the page key: what dies while somebody pages shows before the first page. Throws `cursor-invalid`. */
  async page(filter: DeadLetterFilter, scope: Scope, limit: number, cursor?: string): Promise<Page<DeadLetter>> {
    const before = cursor === undefined ? undefined : decodeCursor(cursor, [/^\d{1,18}$/])[0];
    const { partner, topic, code, fingerprint, order, since } = filter;
    const types = filter.contract === undefined ? undefined : typesOf(filter.contract);
    const where = new Conditions()
      .and(STATES[filter.state])
      .within('p.partner', scope)
      .and('p.partner = :partner', { partner })
      .and('p.topic = :topic', { topic })
      .and('p.type = ANY(:types::text[])', { types })
      .and('p.code = :code', { code })
      .and('p.fingerprint = :fingerprint', { fingerprint })
      // The index of keys begins with the partner.
      .and('p.key = :order AND p.partner IN (SELECT id FROM partner)', { order })
      .and('p.last_failed_at >= :since', { since })
      .and('p.id < :before', { before });
    const found = await this.indexes.rows<DeadLetter>(
      // The ids come from an index alone, so that no plan walks resolved rows in search of the open ones.
      `SELECT ${LETTER_COLUMNS} FROM (SELECT p.id FROM parked_inbound p WHERE ${where.toString()} ORDER BY p.id DESC LIMIT :limit) found
       JOIN parked_inbound p USING (id) ${groupJoin(scope)} ORDER BY p.id DESC`,
      { ...where.values, limit: limit + 1 },
    );
    return pageOf(found, limit, ({ id }) => [id]);
  }

  /** Any parked message, whatever its state; undefined where there is none that the caller may see. */
  async find(id: string, scope: Scope): Promise<DeadLetter | undefined> {
    const where = new Conditions().and('p.id = :id', { id }).within('p.partner', scope);
    const [row] = await this.database.query<DeadLetter>(
      `SELECT ${LETTER_COLUMNS} FROM parked_inbound p ${groupJoin(scope)} WHERE ${where.toString()}`,
      where.values,
    );
    return row;
  }

  async history(id: string): Promise<LetterHistory> {
    const [row] = await this.database.query<LetterHistory>(
      'SELECT root_cause AS "rootCause", attempt_log AS "attemptLog" FROM parked_inbound WHERE id = :id',
      { id },
    );
    return row ?? { rootCause: null, attemptLog: [] };
  }

  async content(id: string): Promise<LetterContent | undefined> {
    const [row] = await this.database.query<LetterContent>(
      `SELECT type, topic, pointer, raw_key AS "rawKey", raw_value AS "rawValue", header_names AS "headerNames", header_values AS "headerValues"
       FROM parked_inbound WHERE id = :id`,
      { id },
    );
    return row;
  }

  /** The newest first; there are as many as staff tried. */
  replays(id: string): Promise<LetterReplay[]> {
    return this.database.query<LetterReplay>(
      `SELECT r.id, r.state, i.outcome, i.code, i.detail, i.at FROM replay_item i JOIN replay r ON r.id = i.replay_id
       WHERE i.parked_id = :id ORDER BY r.planned_at DESC, r.id LIMIT 100`,
      { id },
    );
  }
}
