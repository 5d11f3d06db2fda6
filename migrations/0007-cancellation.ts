import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Cancellation1764460800007 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE orders DROP CONSTRAINT orders_state_check;
      ALTER TABLE orders ADD CONSTRAINT orders_state_check CHECK
        (state IN ('placed', 'acknowledged', 'accepted', 'rejected', 'changed', 'cancelled', 'partly-shipped', 'shipped'));
      -- The last cancellation that was asked for, with what became of it.
      ALTER TABLE orders ADD COLUMN cancellation jsonb;
      -- withdrawn: nobody waits for the answer any more.
      ALTER TABLE exchange DROP CONSTRAINT exchange_state_check;
      ALTER TABLE exchange ADD CONSTRAINT exchange_state_check CHECK (state IN ('awaiting', 'acknowledged', 'answered', 'withdrawn'));
      -- The order's version that the request made: its first answer is told again from that step of the history.
      ALTER TABLE idempotency_key ADD COLUMN version int NOT NULL DEFAULT 1;
    `);
  }

  /** Refuses where an order or an exchange is in a state that the build before doesn't know. */
  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE idempotency_key DROP COLUMN version;
      ALTER TABLE exchange DROP CONSTRAINT exchange_state_check;
      ALTER TABLE exchange ADD CONSTRAINT exchange_state_check CHECK (state IN ('awaiting', 'acknowledged', 'answered'));
      ALTER TABLE orders DROP COLUMN cancellation;
      ALTER TABLE orders DROP CONSTRAINT orders_state_check;
      ALTER TABLE orders ADD CONSTRAINT orders_state_check CHECK (state IN ('placed', 'acknowledged', 'accepted', 'rejected', 'changed'));
    `);
  }
}
