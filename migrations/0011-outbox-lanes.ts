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
        next_attempt_at timestamptz(3),
        PRIMARY KEY (topic, partition)
      );
      CREATE TABLE parked_outbound (
        seq bigint PRIMARY KEY,
        topic text NOT NULL,
        partition int NOT NULL,
        key text,
        message_id uuid NOT NULL,
        -- 'waiting' for its lane, 'held' behind a dead one of its key, 'dead': the broker will never take it as it is.
        state text NOT NULL CHECK (state IN ('waiting', 'held', 'dead')),
        code text,
        detail text,
        attempts int NOT NULL DEFAULT 0,
        parked_at timestamptz(3) NOT NULL,
        record jsonb
      );
      CREATE INDEX parked_outbound_lane ON parked_outbound (topic, partition, seq);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE parked_outbound, parked_lane');
  }
}
