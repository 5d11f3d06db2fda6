import { Conditions, type Database, IndexedReader } from '../../platform/database';
import { decodeCursor, type Page, pageOf } from '../../platform/http';
import { type Behind, BEHIND_COLUMNS, BEHIND_JOIN, behindInWords } from './behind';
import { type DeadLetter, groupJoin, LETTER_COLUMNS } from './dead-letter';
import { type Suspension, SUSPENSION_COLUMNS, SUSPENSION_JOIN, suspensionInWords } from './suspension';

/** A message that waits, and for what. */
export type ParkedLetter = DeadLetter & Behind & Suspension;

export interface ParkedFilter {
  partner?: string | undefined;
  key?: string | undefined;
  state?: 'waiting' | 'held' | undefined;
}

export interface RetrySelection {
  partner?: string | undefined;
  key?: string | undefined;
  fingerprint?: string | undefined;
}

type Scope = readonly string[] | null;

/** Most messages that one request makes due. */
export const MOST_RETRIED = 1000;

const COLUMNS = `${LETTER_COLUMNS}, ${BEHIND_COLUMNS}, ${SUSPENSION_COLUMNS}`;
const joins = (scope: Scope) => `${groupJoin(scope)} ${BEHIND_JOIN} ${SUSPENSION_JOIN}`;
/** In the words of the index. */
const IS_PARKED = `p.state IN ('waiting', 'held')`;

/** Messages that wait for their next attempt, or behind another one. */
export class ParkedList {
  private readonly indexes: IndexedReader;

  constructor(private readonly database: Database) {
    this.indexes = new IndexedReader(database);
  }

  /** Oldest first by id, which is also the page key. Throws `cursor-invalid`. */
  async page(filter: ParkedFilter, scope: Scope, limit: number, cursor?: string): Promise<Page<ParkedLetter>> {
    const after = cursor === undefined ? undefined : decodeCursor(cursor, [/^\d{1,18}$/])[0];
    const { partner, key, state } = filter;
    const where = new Conditions()
      .and(IS_PARKED)
      .within('p.partner', scope)
      .and('p.partner = :partner', { partner })
      // The index of keys begins with the partner.
      .and('p.key = :key AND p.partner IN (SELECT id FROM partner)', { key })
      .and('p.state = :state', { state })
      .and('p.id > :after', { after });
    const found = await this.indexes.rows<ParkedLetter>(
      `SELECT ${COLUMNS} FROM (SELECT p.id FROM parked_inbound p WHERE ${where.toString()} ORDER BY p.id LIMIT :limit) found
       JOIN parked_inbound p USING (id) ${joins(scope)} ORDER BY p.id`,
      { ...where.values, limit: limit + 1 },
    );
    return pageOf(found, limit, ({ id }) => [id]);
  }

  /** Whatever its state; undefined where there is none that the caller may see. */
  async find(id: string, scope: Scope): Promise<ParkedLetter | undefined> {
    const where = new Conditions().and('p.id = :id', { id }).within('p.partner', scope);
    const [row] = await this.database.query<ParkedLetter>(
      `SELECT ${COLUMNS} FROM parked_inbound p ${joins(scope)} WHERE ${where.toString()}`,
      where.values,
    );
    return row;
  }

  /** The oldest waiting messages that match and whose partner is not suspended: {@link MOST_RETRIED}, and one more where there are more. */
  async waiting({ partner, key, fingerprint }: RetrySelection, scope: Scope): Promise<string[]> {
    const where = new Conditions()
      .and(`${IS_PARKED} AND p.state = 'waiting'`)
      .and(`p.partner NOT IN (SELECT id FROM partner WHERE state = 'suspended')`)
      .within('p.partner', scope)
      .and('p.partner = :partner', { partner })
      .and('p.key = :key AND p.partner IN (SELECT id FROM partner)', { key })
      .and('p.fingerprint = :fingerprint', { fingerprint });
    const rows = await this.indexes.rows<{ id: string }>(
      `SELECT p.id FROM parked_inbound p WHERE ${where.toString()} ORDER BY p.id LIMIT ${MOST_RETRIED + 1}`,
      where.values,
    );
    return rows.map(({ id }) => id);
  }
}

/** What it waits for, in words. */
export function reasonOf(letter: ParkedLetter): string {
  const { state, code, detail, attempts, replayId, behindId } = letter;
  const why = `${detail?.replace(/\.$/, '') ?? 'it failed'} (${code ?? 'unknown'})`;
  const times = attempts === 1 ? 'once' : `${attempts} times`;
  const suspended = suspensionInWords(letter);
  if (state === 'waiting') {
    if (suspended !== undefined) return attempts > 0 ? `Tried ${times}: ${why}. ${suspended}` : suspended;
    if (attempts > 0) return `Tried ${times}: ${why}. It is tried again at the time of its next attempt.`;
    return replayId === null
      ? 'It is tried as soon as it is its turn.'
      : 'A replay released it; it is tried as soon as it is its turn.';
  }
  if (state !== 'held') return `It does not wait: it is ${state}.`;
  if (behindId === null) return suspended ?? 'Nothing of its key is before it any more; it follows at once.';
  return suspended === undefined ? behindInWords(letter) : `${behindInWords(letter)} ${suspended}`;
}
