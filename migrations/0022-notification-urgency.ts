import type { MigrationInterface, QueryRunner } from 'typeorm';

export class NotificationUrgency1764460800022 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- Through one provider what is more urgent goes first: 0 high, 1 normal, 2 low, as its kind says when it is raised. What a build before raises is
      -- normal.
      ALTER TABLE notification ADD COLUMN urgency smallint NOT NULL DEFAULT 1;
      UPDATE notification SET urgency = CASE WHEN kind IN ('confirmation-code', 'test') THEN 0 ELSE 2 END
      WHERE state IN ('pending', 'sending') AND kind IN ('confirmation-code', 'test', 'announcement', 'message', 'order-accepted',
        'order-rejected', 'order-changed', 'order-shipped');
      DROP INDEX notification_due;
      CREATE INDEX notification_due ON notification (provider, urgency, next_attempt_at) WHERE state = 'pending';
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP INDEX notification_due;
      ALTER TABLE notification DROP COLUMN urgency;
      CREATE INDEX notification_due ON notification (provider, next_attempt_at) WHERE state = 'pending';
    `);
  }
}
