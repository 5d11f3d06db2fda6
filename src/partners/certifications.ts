import { type Database, query, type Tx } from '../platform/database';

/** What a partner's system showed when it was tried. */
export interface Certification {
  /** UUID */
  id: string;
  partner: string;
  /** Name and version of the list of scenarios. */
  suite: string;
  passed: boolean;
  /** Per scenario: name, outcome, what was expected and seen; no document's content, no secret. */
  report: Readonly<Record<string, unknown>>;
  ranAt: Date;
  ranBy: string;
  /** From then on it shows nothing any more. */
  expiresAt: Date;
}

/** Keeps it; none is ever changed. The caller writes the audit in the same transaction. */
export async function keepCertification(tx: Tx, certification: Certification): Promise<void> {
  await query(
    tx,
    `INSERT INTO partner_certification (id, partner, suite, passed, report, ran_at, ran_by, expires_at)
     VALUES (:id, :partner, :suite, :passed, :report::jsonb, :ranAt, :ranBy, :expiresAt)`,
    { ...certification, report: JSON.stringify(certification.report) },
  );
}

/** The newest of a partner, whether it passed or not, expired or not: a later failure takes back an earlier success. */
export async function newestCertification(
  database: Pick<Database, 'query'>,
  partner: string,
): Promise<Certification | undefined> {
  const [newest] = await database.query<Certification>(
    `SELECT id, partner, suite, passed, report, ran_at AS "ranAt", ran_by AS "ranBy", expires_at AS "expiresAt"
     FROM partner_certification WHERE partner = :partner ORDER BY ran_at DESC LIMIT 1`,
    { partner },
  );
  return newest;
}

/** `passed` and `failed` hold until `expiresAt`. */
export function standingOf(
  certification: Pick<Certification, 'passed' | 'expiresAt'> | undefined,
  now: Date,
): 'none' | 'passed' | 'failed' | 'expired' {
  if (!certification) return 'none';
  if (certification.expiresAt <= now) return 'expired';
  return certification.passed ? 'passed' : 'failed';
}
