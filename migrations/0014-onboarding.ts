import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Onboarding1764460800014 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- What a partner was last asked to be, as its file said; what is there is compared with it.
      CREATE TABLE partner_spec (
        partner text PRIMARY KEY REFERENCES partner (id),
        spec jsonb NOT NULL,
        applied_at timestamptz(3) NOT NULL,
        applied_by text NOT NULL
      );
      -- What onboarding made at the broker and may change or delete: written before it is made. What is not here belongs to somebody else.
      CREATE TABLE partner_resource (
        partner text NOT NULL,
        kind text NOT NULL CHECK (kind IN ('topic', 'user', 'acl', 'quota', 'subject')),
        name text NOT NULL,
        created_at timestamptz(3) NOT NULL,
        PRIMARY KEY (partner, kind, name)
      );
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE partner_resource, partner_spec');
  }
}
