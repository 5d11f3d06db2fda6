import type { MigrationInterface, QueryRunner } from 'typeorm';

export class AccountAttempts1764460800021 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- Which attempt made the secret that the account has at the broker: another one's opens nothing, and must not be called known.
      -- NULL: made by a build before, or by others.
      ALTER TABLE partner_account ADD COLUMN attempt uuid;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE partner_account DROP COLUMN attempt');
  }
}
