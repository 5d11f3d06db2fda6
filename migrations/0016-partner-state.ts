import type { MigrationInterface, QueryRunner } from 'typeorm';

export class PartnerState1764460800016 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE partner
        DROP CONSTRAINT partner_state_check,
        ADD CONSTRAINT partner_state_check CHECK (state IN ('active', 'paused', 'suspended')),
        ADD COLUMN version int NOT NULL DEFAULT 1,
        -- Since when, why and by whom it is in this state; NULL: since it was added.
        ADD COLUMN state_since timestamptz(3),
        ADD COLUMN state_reason text,
        ADD COLUMN state_by text;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE partner
        DROP COLUMN state_by, DROP COLUMN state_reason, DROP COLUMN state_since, DROP COLUMN version,
        DROP CONSTRAINT partner_state_check,
        ADD CONSTRAINT partner_state_check CHECK (state IN ('active', 'suspended'));
    `);
  }
}
