import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Orders1764460800005 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- No foreign key to partner: partners are never deleted, intake asks for the partner first, and the key's row lock
      -- on one hot partner row would meet in every insert.
      CREATE TABLE orders (
        order_number text PRIMARY KEY,
        partner text NOT NULL,
        state text NOT NULL,
        version int NOT NULL,
        currency text NOT NULL,
        -- What was ordered; what the partner changed stands in agreed_lines.
        lines jsonb NOT NULL,
        agreed_lines jsonb,
        deadline timestamptz(3) NOT NULL,
        created_at timestamptz(3) NOT NULL,
        updated_at timestamptz(3) NOT NULL,
        CONSTRAINT orders_state_check CHECK (state IN ('placed', 'acknowledged', 'accepted', 'rejected', 'changed'))
      ) WITH (fillfactor = 80);
      CREATE INDEX orders_created ON orders (created_at, order_number);
      CREATE INDEX orders_partner_created ON orders (partner, created_at, order_number);
      -- BRIN: an update of updated_at stays heap-only (PostgreSQL 16 and newer).
      CREATE INDEX orders_updated ON orders USING brin (updated_at);
      CREATE SEQUENCE order_number_seq;
      -- History: one row per business step, with its message. version is the order's after the step.
      CREATE TABLE order_event (
        order_number text NOT NULL,
        version int NOT NULL,
        type text NOT NULL,
        at timestamptz(3) NOT NULL,
        message_id text NOT NULL,
        correlation_id text NOT NULL,
        -- Ours: the place in the outbox. The partner's: the offset.
        outbox_seq bigint,
        topic text NOT NULL,
        partition int NOT NULL,
        "offset" bigint,
        detail jsonb,
        PRIMARY KEY (order_number, version)
      );
      CREATE TABLE idempotency_key (
        caller text NOT NULL,
        key text NOT NULL,
        request_hash bytea NOT NULL,
        order_number text NOT NULL,
        created_at timestamptz(3) NOT NULL,
        PRIMARY KEY (caller, key)
      );
      CREATE INDEX idempotency_key_created ON idempotency_key USING brin (created_at);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE idempotency_key, order_event, orders; DROP SEQUENCE order_number_seq');
  }
}
