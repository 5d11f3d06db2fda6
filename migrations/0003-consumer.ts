import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Consumer1764460800003 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- Every inbound record that was ever taken, once. Uniqueness is the promise that nothing is applied twice.
      -- message_id is ce_id where that can stand for the record, otherwise its place in the topic.
      CREATE TABLE inbox (
        channel_id int NOT NULL,
        message_id text NOT NULL,
        -- First 16 bytes of SHA-256 over key and value: tells a repeat from another document under the same id.
        hash bytea NOT NULL,
        partition int NOT NULL,
        "offset" bigint NOT NULL,
        received_at timestamptz(3) NOT NULL,
        PRIMARY KEY (channel_id, message_id)
      );
      -- A key one of whose messages waits: later ones are held behind it.
      CREATE TABLE parked_key (
        partner text NOT NULL,
        key text NOT NULL,
        since timestamptz(3) NOT NULL,
        PRIMARY KEY (partner, key)
      );
      -- Messages that could not be applied yet or ever, bytes and headers untouched. id gives their order within a key.
      CREATE TABLE parked_inbound (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        partner text NOT NULL,
        -- As in parked_key; null where the record has none.
        key text,
        state text NOT NULL CHECK (state IN ('waiting', 'held', 'dead')),
        channel_id int NOT NULL,
        -- The row of inbox that this record took; the same transaction wrote it.
        inbox_id text NOT NULL,
        topic text NOT NULL,
        partition int NOT NULL,
        "offset" bigint NOT NULL,
        record_time timestamptz(3) NOT NULL,
        -- What the record says of itself, made fit for text columns; the headers have the exact bytes.
        message_id text,
        correlation_id text,
        type text,
        raw_key bytea,
        raw_value bytea,
        -- bytea, because a header's name may hold what text can't (NUL).
        header_names bytea[] NOT NULL,
        header_values bytea[] NOT NULL,
        code text,
        pointer text,
        detail text,
        fingerprint text,
        attempts int NOT NULL DEFAULT 0,
        next_attempt_at timestamptz(3),
        parked_at timestamptz(3) NOT NULL,
        -- Not (topic, partition, offset): a topic that was deleted and made again counts from 0 once more.
        UNIQUE (channel_id, inbox_id)
      );
      CREATE INDEX parked_inbound_key ON parked_inbound (partner, key, id);
      CREATE INDEX parked_inbound_state ON parked_inbound (state, next_attempt_at);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE parked_inbound, parked_key, inbox');
  }
}
