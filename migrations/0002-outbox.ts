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
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE outbox_message');
  }
}
