import type { MigrationInterface, QueryRunner } from 'typeorm';

export class PartnerAccounts1764460800015 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- Accounts of partners at the broker. A rotation makes another beside the old one. Secrets are nowhere in here.
      CREATE TABLE partner_account (
        id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        partner text NOT NULL REFERENCES partner (id),
        -- The broker's principal is User:<username>.
        username text NOT NULL UNIQUE,
        kind text NOT NULL CHECK (kind IN ('scram-sha-512', 'tls')),
        -- creating: its secret was shown to nobody yet, and is made anew when onboarding goes on.
        state text NOT NULL CHECK (state IN ('creating', 'active', 'retiring', 'retired')),
        created_at timestamptz(3) NOT NULL,
        created_by text NOT NULL,
        -- From then on it opens nothing. NULL: no end.
        valid_until timestamptz(3),
        retired_at timestamptz(3),
        -- When a client under this account was last seen, and where.
        last_seen_at timestamptz(3),
        last_seen_from text
      );
      CREATE INDEX partner_account_partner ON partner_account (partner);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE partner_account');
  }
}
