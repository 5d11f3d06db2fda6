import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Partners1764460800001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE partner (
        id text PRIMARY KEY CHECK (id ~ '^[a-z][a-z0-9-]{0,31}$'),
        name text NOT NULL,
        state text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'suspended')),
        created_at timestamptz(3) NOT NULL
      );
      -- One topic of one partner. id is small because hot tables carry it.
      CREATE TABLE channel (
        id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        partner text NOT NULL REFERENCES partner (id),
        topic text NOT NULL UNIQUE,
        direction text NOT NULL CHECK (direction IN ('out', 'in')),
        format text NOT NULL,
        partitions int NOT NULL CHECK (partitions BETWEEN 1 AND 1000),
        max_message_bytes int NOT NULL CHECK (max_message_bytes BETWEEN 1024 AND 16777216),
        allow_missing_id boolean NOT NULL DEFAULT false,
        created_at timestamptz(3) NOT NULL
      );
      CREATE INDEX channel_partner ON channel (partner);
      -- Grows with every change of the set of channels; consumers poll it.
      CREATE TABLE channel_version (only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row), version bigint NOT NULL);
      INSERT INTO channel_version (version) VALUES (1);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE channel_version, channel, partner');
  }
}
