import { query, type Tx } from '../platform/database';

/** What a partner's system showed when it was tried. */
export interface Certification {
  /** UUID */
  id: string;
  partner: string;
  /** Name and version of the list of scenarios. */
  suite: string;
  passed: boolean;
  /** Where it was tried (`brokers`), and per scenario: name, outcome, what was expected and seen; no document's content, no secret. */
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
