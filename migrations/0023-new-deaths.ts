import type { MigrationInterface, QueryRunner } from 'typeorm';

export class NewDeaths1764460800023 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- What a replay fails with again is none: beside a million of those a look at a channel's new deaths would walk over all of them.
      DROP INDEX parked_inbound_deaths;
      CREATE INDEX parked_inbound_deaths ON parked_inbound (channel_id, last_failed_at) WHERE state = 'dead' AND replay_id IS NULL;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP INDEX parked_inbound_deaths;
      CREATE INDEX parked_inbound_deaths ON parked_inbound (channel_id, last_failed_at) INCLUDE (replay_id) WHERE state = 'dead';
    `);
  }
}
