import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Certification1764460800017 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- What a partner's system showed when it was tried; the newest counts, until it expires.
      CREATE TABLE partner_certification (
        id uuid PRIMARY KEY,
        partner text NOT NULL REFERENCES partner (id),
        -- Version of the list of scenarios.
        suite text NOT NULL,
        passed boolean NOT NULL,
        -- Per scenario: name, outcome, what was expected and seen; no document's content, no secret.
        report jsonb NOT NULL,
        ran_at timestamptz(3) NOT NULL,
        ran_by text NOT NULL,
        expires_at timestamptz(3) NOT NULL
      );
      CREATE INDEX partner_certification_newest ON partner_certification (partner, ran_at);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE partner_certification');
  }
}
