import type { MigrationInterface, QueryRunner } from 'typeorm';

export class OutboxLanes1764460800011 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- A lane whose rows wait in parked_outbound, so that the cursor and the other lanes go on. Written and deleted only in statements that check the epoch.
      CREATE TABLE parked_lane (
        topic text NOT NULL,
        partition int NOT NULL,
        since timestamptz(3) NOT NULL,
        code text NOT NULL,
        reason text NOT NULL,
        attempts int NOT NULL DEFAULT 0,
        next_attempt_at timestamptz NOT NULL,
        PRIMARY KEY (topic, partition)
      );
      -- A key that an outbound dead letter holds. next_attempt_at: staff have decided on it, the owner looks again.
      CREATE TABLE parked_outbound_key (
        topic text NOT NULL,
        partition int NOT NULL,
        key text NOT NULL,
        next_attempt_at timestamptz,
        PRIMARY KEY (topic, partition, key)
      );
      -- The bytes stay in outbox_message, whose partitions wait for what is unsettled here.
      CREATE TABLE parked_outbound (
        seq bigint PRIMARY KEY,
        topic text NOT NULL,
        partition int NOT NULL,
        key text NOT NULL,
        message_id uuid NOT NULL,
        -- 'waiting' for its lane, 'dead': the broker will not take it as it is, 'held' behind a dead one of its key,
        -- 'retrying': a dead one that staff have sent again, 'discarded' by staff. A sent one leaves.
        state text NOT NULL CHECK (state IN ('waiting', 'dead', 'held', 'retrying', 'discarded')),
        code text,
        detail text,
        parked_at timestamptz(3) NOT NULL,
        -- Of the last time that staff have sent it again.
        replay_id uuid,
        replay_by text,
        replay_attempt int NOT NULL DEFAULT 0,
        -- Who discarded it, why and when.
        discarded_by text,
        discard_reason text,
        discarded_at timestamptz(3)
      );
      CREATE INDEX parked_outbound_waiting ON parked_outbound (topic, partition, seq) WHERE state = 'waiting';
      CREATE INDEX parked_outbound_key_order ON parked_outbound (topic, partition, key, seq);
      -- Few beside those that wait: for people's lists.
      CREATE INDEX parked_outbound_unsettled ON parked_outbound (seq) WHERE state <> 'waiting';
      -- What the owner says of itself, for processes without a relay: pending rows, failing lanes. As old as the last renewal of the lease.
      ALTER TABLE outbox_cursor ADD COLUMN report jsonb;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE outbox_cursor DROP COLUMN report');
    await runner.query('DROP TABLE parked_outbound, parked_outbound_key, parked_lane');
  }
}
