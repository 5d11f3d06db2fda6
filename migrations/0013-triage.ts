import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Triage1764460800013 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- What people say of failures of one cause; the counts come from parked_inbound.
      CREATE TABLE failure_group (
        fingerprint text PRIMARY KEY,
        version int NOT NULL DEFAULT 1,
        assignee text,
        note text,
        updated_at timestamptz(3) NOT NULL,
        updated_by text NOT NULL
      );
      -- A frozen set of dead letters and the job that releases them.
      CREATE TABLE replay (
        id uuid PRIMARY KEY,
        state text NOT NULL CHECK (state IN ('planned', 'running', 'paused', 'cancelled', 'done')),
        -- What was asked for: {ids} or a filter.
        selection jsonb NOT NULL,
        reason text,
        -- Messages per second; NULL: as fast as it goes.
        pace int CHECK (pace > 0),
        planned_by text NOT NULL,
        planned_at timestamptz(3) NOT NULL,
        started_by text,
        started_at timestamptz(3),
        ended_at timestamptz(3),
        -- Which process runs it, and until when that is believed.
        owner text,
        lease_until timestamptz(3)
      );
      CREATE TABLE replay_item (
        replay_id uuid NOT NULL REFERENCES replay (id),
        parked_id bigint NOT NULL,
        -- 'planned' until released; done means processed.
        outcome text NOT NULL CHECK (outcome IN ('planned', 'waiting', 'processed', 'failed-again', 'skipped')),
        code text,
        detail text,
        at timestamptz(3),
        PRIMARY KEY (replay_id, parked_id)
      );
      CREATE INDEX replay_item_outcome ON replay_item (replay_id, outcome, parked_id);
      CREATE INDEX replay_item_parked ON replay_item (parked_id);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE replay_item, replay, failure_group');
  }
}
