import type { MigrationInterface, QueryRunner } from 'typeorm';

export class PartnerAccounts1764460800015 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- Accounts of partners at the broker. A rotation makes another beside the old one. Secrets are nowhere in here. A row is never
      -- deleted, so that no number is used again.
      CREATE TABLE partner_account (
        id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        partner text NOT NULL REFERENCES partner (id),
        -- The broker's principal is User:<username>.
        username text NOT NULL UNIQUE,
        kind text NOT NULL CHECK (kind IN ('scram-sha-512', 'tls')),
        -- creating: its secret was perhaps told to nobody, and is made anew when onboarding or rotation goes on.
        state text NOT NULL CHECK (state IN ('creating', 'active', 'retiring', 'retired')),
        created_at timestamptz(3) NOT NULL,
        created_by text NOT NULL,
        -- active: until when its credentials should be replaced; it goes on working, and is called expired. retiring: its end.
        valid_until timestamptz(3),
        -- Since when its rights are taken away, reversibly. NULL: they are not.
        disabled_at timestamptz(3),
        retired_at timestamptz(3),
        -- When a client that calls itself by this account's name was last seen in a consumer group of the partner, and where.
        last_seen_at timestamptz(3),
        last_seen_from text,
        -- When the log last said that it expires.
        warned_at timestamptz(3)
      );
      CREATE INDEX partner_account_partner ON partner_account (partner);
      -- A partner has one account to give to new clients; those that it replaced are retiring.
      CREATE UNIQUE INDEX partner_account_active ON partner_account (partner) WHERE state = 'active';
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE partner_account');
  }
}
