import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Contracts1764460800006 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- Consumers of the build before may be running: what they have parked and not committed would not be seen below. Those
      -- that come later find no such column, and wait with their records until they are replaced.
      LOCK TABLE parked_key IN ACCESS EXCLUSIVE MODE;
      ALTER TABLE channel ADD CONSTRAINT channel_format_check CHECK (format IN ('avro', 'protobuf', 'json-schema', 'json'));
      -- Which schema ids a channel's records named: what the partner still uses. Written at most once a minute for an id.
      CREATE TABLE channel_schema (
        channel_id int NOT NULL,
        -- CloudEvents type of the document.
        type text NOT NULL,
        schema_id int NOT NULL,
        first_seen_at timestamptz(3) NOT NULL,
        last_seen_at timestamptz(3) NOT NULL,
        PRIMARY KEY (channel_id, type, schema_id)
      );
      -- A key waits within its channel: only there is an order between messages. A despatch advice that comes too early
      -- must not hold the answer that it waits for, which comes on another topic under the same key.
      CREATE TABLE parked_key_by_channel (
        channel_id int NOT NULL,
        key text NOT NULL,
        since timestamptz(3) NOT NULL,
        PRIMARY KEY (channel_id, key)
      );
      INSERT INTO parked_key_by_channel (channel_id, key, since)
        SELECT p.channel_id, p.key, min(k.since) FROM parked_inbound p JOIN parked_key k USING (partner, key) GROUP BY 1, 2;
      DROP TABLE parked_key;
      ALTER TABLE parked_key_by_channel RENAME TO parked_key;
      ALTER INDEX parked_key_by_channel_pkey RENAME TO parked_key_pkey;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE parked_key_by_partner (
        partner text NOT NULL,
        key text NOT NULL,
        since timestamptz(3) NOT NULL,
        PRIMARY KEY (partner, key)
      );
      INSERT INTO parked_key_by_partner (partner, key, since)
        SELECT c.partner, k.key, min(k.since) FROM parked_key k JOIN channel c ON c.id = k.channel_id GROUP BY 1, 2;
      DROP TABLE parked_key;
      ALTER TABLE parked_key_by_partner RENAME TO parked_key;
      ALTER INDEX parked_key_by_partner_pkey RENAME TO parked_key_pkey;
      DROP TABLE channel_schema;
      ALTER TABLE channel DROP CONSTRAINT channel_format_check;
    `);
  }
}
