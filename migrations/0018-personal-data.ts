import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Whom a partner asks about an order, and who brings a despatch. Shown to people as masks; never indexed, since nobody searches by them. */
export class PersonalData1764460800018 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE orders ADD COLUMN contact jsonb;
      ALTER TABLE shipment ADD COLUMN driver jsonb;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE shipment DROP COLUMN driver; ALTER TABLE orders DROP COLUMN contact');
  }
}
