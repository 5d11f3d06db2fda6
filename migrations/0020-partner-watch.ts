import type { MigrationInterface, QueryRunner } from 'typeorm';

export class PartnerWatch1764460800020 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- What is remembered between two looks at whether a partner is silent and what of it is dead, so that people are told once.
      CREATE TABLE partner_watch (
        partner text PRIMARY KEY,
        -- What came of it before that nobody knows.
        watched_since timestamptz(3) NOT NULL,
        -- All that came of it before that is counted in last_message_at.
        heard_up_to timestamptz(3) NOT NULL,
        last_message_at timestamptz(3),
        -- Since when it is silent, as people were told; NULL: it is not.
        silent_since timestamptz(3),
        -- When people were last told of its dead letters, and when the newest of those had died.
        dead_told_at timestamptz(3),
        dead_newest_at timestamptz(3)
      );
      -- Overdue requests still wait for their answer. Names no column that an answer changes: its update stays heap-only.
      CREATE INDEX exchange_ended ON exchange (partner, ended_at) WHERE ended_at IS NOT NULL;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX exchange_ended; DROP TABLE partner_watch');
  }
}
