import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Exchanges1764460800004 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- The request/response ledger. The correlation id comes first in the key, so that another partner's exchange is
      -- found (and reported) by the same index.
      CREATE TABLE exchange (
        correlation_id text NOT NULL,
        partner text NOT NULL,
        direction text NOT NULL CHECK (direction IN ('out', 'in')),
        kind text NOT NULL,
        order_number text NOT NULL,
        request_message_id text NOT NULL,
        request_seq bigint,
        state text NOT NULL CHECK (state IN ('awaiting', 'acknowledged', 'answered')),
        deadline timestamptz(3),
        resends int NOT NULL DEFAULT 0,
        opened_at timestamptz(3) NOT NULL,
        answer_message_id text,
        answer_code text,
        answered_at timestamptz(3),
        PRIMARY KEY (correlation_id, partner, direction)
      ) WITH (fillfactor = 80);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE exchange');
  }
}
