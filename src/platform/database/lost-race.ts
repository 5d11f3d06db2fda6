/**
 * Thrown inside a transaction when ON CONFLICT DO NOTHING left out a row that was free when this transaction looked: another one
 * took it meanwhile and has committed. {@link Database.transaction} runs it again, as after PostgreSQL's own
 * serialization_failure, whose SQLSTATE it carries; then it sees the row. No message is blamed for it.
 */
export class LostRace extends Error {
  override readonly name = 'LostRace';
  readonly code = '40001';
}
