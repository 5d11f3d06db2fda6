import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Staff1764460800009 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE api_key (
        -- Public part of the token.
        id text PRIMARY KEY,
        name text NOT NULL,
        -- SHA-256 of the whole token; the token itself is shown once and kept nowhere.
        hash bytea NOT NULL CHECK (length(hash) = 32),
        role text NOT NULL CHECK (role IN ('viewer', 'support', 'operator', 'admin')),
        -- NULL: all.
        areas text[],
        partners text[],
        created_at timestamptz(3) NOT NULL,
        created_by text NOT NULL,
        expires_at timestamptz(3),
        last_used_at timestamptz(3),
        revoked_at timestamptz(3)
      );
      CREATE TABLE audit_entry (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        at timestamptz(3) NOT NULL,
        -- Who: the id that acts, and what people call it.
        caller text NOT NULL,
        caller_name text NOT NULL,
        role text NOT NULL,
        action text NOT NULL,
        object text NOT NULL,
        partner text,
        reason text,
        detail jsonb,
        -- From where: network address, or the machine's user for a command that asks the database itself.
        origin text NOT NULL
      );
      CREATE INDEX audit_entry_object ON audit_entry (object, id);
      CREATE FUNCTION audit_entry_is_append_only() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'audit entries are neither changed nor deleted'; END $$;
      CREATE TRIGGER audit_entry_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_entry
        FOR EACH STATEMENT EXECUTE FUNCTION audit_entry_is_append_only();
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE audit_entry; DROP FUNCTION audit_entry_is_append_only(); DROP TABLE api_key');
  }
}
