import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Deadlines1764460800012 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE exchange DROP CONSTRAINT exchange_state_check;
      ALTER TABLE exchange ADD CONSTRAINT exchange_state_check
        CHECK (state IN ('awaiting', 'acknowledged', 'answered', 'overdue', 'answered-late', 'withdrawn'));
      -- Why it was withdrawn, and when it ended without an answer.
      ALTER TABLE exchange ADD COLUMN ended_at timestamptz(3), ADD COLUMN end_reason text;
      -- BRIN: deadlines grow with the table, and an answer's update stays heap-only (PostgreSQL 16 and newer).
      CREATE INDEX exchange_deadline ON exchange USING brin (deadline) WITH (autosummarize = on);
    `);
  }

  /** Refuses where an exchange is in a state that the build before doesn't know. */
  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP INDEX exchange_deadline;
      ALTER TABLE exchange DROP COLUMN ended_at, DROP COLUMN end_reason;
      ALTER TABLE exchange DROP CONSTRAINT exchange_state_check;
      ALTER TABLE exchange ADD CONSTRAINT exchange_state_check CHECK (state IN ('awaiting', 'acknowledged', 'answered', 'withdrawn'));
    `);
  }
}
