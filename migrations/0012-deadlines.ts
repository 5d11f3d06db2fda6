import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Deadlines1764460800012 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE exchange DROP CONSTRAINT exchange_state_check;
      ALTER TABLE exchange ADD CONSTRAINT exchange_state_check
        CHECK (state IN ('awaiting', 'acknowledged', 'answered', 'overdue', 'answered-late', 'withdrawn'));
      ALTER TABLE exchange
        -- When it became overdue or was withdrawn, and what is to be known about that.
        ADD COLUMN ended_at timestamptz(3),
        ADD COLUMN end_reason text,
        -- The request's number in the outbox when it was sent last; null: only once, as request_seq.
        ADD COLUMN resent_seq bigint,
        -- When the watcher looks at it: its deadline, later where it could not be judged then; null when there is nothing to wait for.
        ADD COLUMN look_at timestamptz(3);
      UPDATE exchange SET look_at = deadline WHERE direction = 'out' AND state IN ('awaiting', 'acknowledged');
      -- Names no column that a final answer changes: its update stays heap-only.
      CREATE INDEX exchange_look_at ON exchange (partner, look_at) WHERE look_at IS NOT NULL;
      -- How far a topic on which partners answer has been read and judged. Every column only grows.
      CREATE TABLE reply_watch (
        topic text PRIMARY KEY,
        -- All that was written to the topic before has a recorded outcome.
        read_up_to timestamptz(3),
        -- All exchanges with an earlier look_at have been looked at.
        judged_up_to timestamptz(3)
      );
      -- A step that no record caused: a deadline that passed, a withdrawal.
      ALTER TABLE order_event ALTER COLUMN topic DROP NOT NULL, ALTER COLUMN partition DROP NOT NULL;
      -- Requests of the order whose answer is overdue: [{correlationId, since}].
      ALTER TABLE orders ADD COLUMN overdue jsonb;
      CREATE INDEX orders_overdue ON orders (created_at, order_number) WHERE overdue IS NOT NULL;
    `);
  }

  /** Refuses where an exchange is in a state, or a history has a step, that the build before doesn't know. */
  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE order_event ALTER COLUMN topic SET NOT NULL, ALTER COLUMN partition SET NOT NULL;
      DROP INDEX orders_overdue;
      ALTER TABLE orders DROP COLUMN overdue;
      DROP TABLE reply_watch;
      DROP INDEX exchange_look_at;
      ALTER TABLE exchange DROP COLUMN ended_at, DROP COLUMN end_reason, DROP COLUMN resent_seq, DROP COLUMN look_at;
      ALTER TABLE exchange DROP CONSTRAINT exchange_state_check;
      ALTER TABLE exchange ADD CONSTRAINT exchange_state_check CHECK (state IN ('awaiting', 'acknowledged', 'answered', 'withdrawn'));
    `);
  }
}
