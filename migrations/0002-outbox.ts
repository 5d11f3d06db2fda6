import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Outbox1764460800002 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE SEQUENCE outbox_message_seq_seq CACHE 1;
      -- xid stands before seq: a row's transaction has its id before it draws its number (ARCHITECTURE.md, the floor).
      CREATE TABLE outbox_message (
        xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
        seq bigint NOT NULL DEFAULT nextval('outbox_message_seq_seq'),
        id uuid NOT NULL,
        aggregatetype text NOT NULL,
        aggregateid text NOT NULL,
        type text NOT NULL,
        topic text NOT NULL,
        partition int NOT NULL,
        correlationid text,
        causationid text,
        traceparent text,
        dataschema text,
        content_type text NOT NULL,
        time timestamptz(3) NOT NULL,
        payload bytea,
        PRIMARY KEY (seq)
      ) PARTITION BY RANGE (seq);
      ALTER SEQUENCE outbox_message_seq_seq OWNED BY outbox_message.seq;
      CREATE INDEX outbox_message_xid_seq ON outbox_message (xid, seq);
      -- Where a run of messages stands in Kafka: seqs[i] is at base_offset + i - 1, ascending. A message whose
      -- acknowledgement was lost may have two. Partitioned like the outbox, by the run's highest number.
      CREATE TABLE outbox_receipt (
        topic text NOT NULL,
        partition int NOT NULL,
        base_offset bigint NOT NULL,
        first_seq bigint NOT NULL,
        last_seq bigint NOT NULL,
        seqs bigint[] NOT NULL,
        -- When the acknowledgement was recorded.
        sent_at timestamptz(3) NOT NULL DEFAULT now()
      ) PARTITION BY RANGE (last_seq);
      CREATE INDEX outbox_receipt_run ON outbox_receipt (topic, partition, last_seq, first_seq);
      CREATE TABLE outbox_message_p1 PARTITION OF outbox_message FOR VALUES FROM (1) TO (5000001);
      CREATE TABLE outbox_receipt_p1 PARTITION OF outbox_receipt FOR VALUES FROM (1) TO (5000001);
      -- What the relay has sent, as a snapshot, and who may move it. Columns: src/messaging/outbox/cursor.ts.
      CREATE TABLE outbox_cursor (
        only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
        done pg_snapshot NOT NULL,
        win pg_snapshot,
        hi bigint,
        last_seq bigint,
        floor_xmax bigint NOT NULL DEFAULT 0,
        floor_xmin bigint NOT NULL DEFAULT 0,
        foreign_upto bigint NOT NULL DEFAULT 0,
        system_identifier bigint NOT NULL,
        owner text,
        epoch bigint NOT NULL DEFAULT 0,
        lease_until timestamptz NOT NULL DEFAULT '-infinity',
        CHECK (num_nulls(win, hi, last_seq) IN (0, 3))
      ) WITH (fillfactor = 50);
      -- The table was made in this transaction, so nothing that this snapshot sees can be a message.
      INSERT INTO outbox_cursor (done, system_identifier) SELECT pg_current_snapshot(), system_identifier FROM pg_control_system();
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE outbox_cursor, outbox_receipt, outbox_message');
  }
}
