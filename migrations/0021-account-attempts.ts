import type { MigrationInterface, QueryRunner } from 'typeorm';

export class AccountAttempts1764460800021 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- Which attempt makes the account's secret, from before it is put at the broker: who was overtaken puts none and calls none known.
      -- NULL: made by a build before, or by others.
      ALTER TABLE partner_account ADD COLUMN attempt uuid;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE partner_account DROP COLUMN attempt');
  }
}
