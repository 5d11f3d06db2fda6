import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Failures1764460800010 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      LOCK TABLE parked_inbound IN ACCESS EXCLUSIVE MODE;
      ALTER TABLE parked_inbound DROP CONSTRAINT parked_inbound_state_check;
      ALTER TABLE parked_inbound
        -- processed and discarded are resolved; the others are not, and never expire.
        ADD CONSTRAINT parked_inbound_state_check CHECK (state IN ('waiting', 'held', 'dead', 'processed', 'discarded')),
        -- Grows with every change that people may see: the ETag.
        ADD COLUMN version int NOT NULL DEFAULT 1,
        -- Does its key wait while this row is unresolved? Before its turn every row with a key keeps its place; once it failed, as its
        -- contract's laterMessages says. Of those that hold a key only the first is ever waiting.
        ADD COLUMN holds boolean NOT NULL DEFAULT false,
        -- Where it failed: 'inspection', 'handler' (a decision), 'exception', 'process' (ended it).
        ADD COLUMN failed_in text,
        -- Chain of causes of an exception, bounded; for staff only.
        ADD COLUMN root_cause text,
        ADD COLUMN first_failed_at timestamptz(3),
        -- Since when its attempts are counted: a replay begins anew.
        ADD COLUMN counted_since timestamptz(3),
        ADD COLUMN last_failed_at timestamptz(3),
        -- The last 20 attempts: [{at, code, detail}].
        ADD COLUMN attempt_log jsonb NOT NULL DEFAULT '[]',
        -- Attempts that began and have no end: what is left of them when the process was killed by one.
        ADD COLUMN starts int NOT NULL DEFAULT 0,
        ADD COLUMN started_at timestamptz(3),
        -- The replay that released it last.
        ADD COLUMN replay_id uuid,
        -- The edit that is applied in place of the bytes.
        ADD COLUMN edit_id bigint,
        ADD COLUMN resolved_at timestamptz(3),
        ADD COLUMN resolved_by text,
        ADD COLUMN resolution text,
        ADD COLUMN dlt_published_at timestamptz(3),
        ADD COLUMN dlt_attempts int NOT NULL DEFAULT 0,
        -- Not published before: the lease of whoever publishes it, then the pause behind a failure.
        ADD COLUMN dlt_next_at timestamptz(3) NOT NULL DEFAULT '-infinity',
        ADD COLUMN dlt_trouble text;
      UPDATE parked_inbound p SET holds = EXISTS (SELECT 1 FROM parked_key k WHERE k.channel_id = p.channel_id AND k.key = p.key);
      UPDATE parked_inbound SET first_failed_at = parked_at, counted_since = parked_at, last_failed_at = parked_at WHERE state <> 'held';
      -- What waits, by key and in order; what is resolved costs these nothing.
      CREATE INDEX parked_inbound_open_key ON parked_inbound (channel_id, key, id) WHERE holds AND state IN ('waiting', 'held', 'dead');
      CREATE INDEX parked_inbound_due ON parked_inbound (partner, next_attempt_at, id) WHERE state = 'waiting';
      CREATE INDEX parked_inbound_dead ON parked_inbound (fingerprint, id) WHERE state = 'dead';
      CREATE INDEX parked_inbound_correlation ON parked_inbound (correlation_id) WHERE state IN ('waiting', 'held', 'dead');
      CREATE INDEX parked_inbound_unpublished ON parked_inbound (dlt_next_at, id) WHERE state = 'dead' AND dlt_published_at IS NULL;
      -- How many died on a channel, in all and of late, and not of a replay.
      CREATE INDEX parked_inbound_deaths ON parked_inbound (channel_id, last_failed_at) INCLUDE (replay_id) WHERE state = 'dead';
      CREATE INDEX parked_inbound_resolved ON parked_inbound (resolved_at) WHERE resolved_at IS NOT NULL;
      CREATE INDEX parked_inbound_replay ON parked_inbound (replay_id) WHERE replay_id IS NOT NULL;
      DROP INDEX parked_inbound_state;
      -- Keys whose first message was resolved in a drain's transaction: the next one's turn comes, or the key's end, in a later transaction.
      CREATE TABLE parked_key_end (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        channel_id int NOT NULL,
        key text NOT NULL,
        at timestamptz(3) NOT NULL
      );
      -- A document that staff mended; the original bytes stay in parked_inbound.
      CREATE TABLE parked_edit (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        parked_id bigint NOT NULL REFERENCES parked_inbound (id) ON DELETE CASCADE,
        -- The edited document's own id; its cause is the original message.
        message_id uuid NOT NULL UNIQUE,
        document jsonb NOT NULL,
        -- RFC 6902, from the decoded original (or from null where that can't be decoded).
        diff jsonb NOT NULL,
        reason text NOT NULL,
        state text NOT NULL CHECK (state IN ('pending', 'approved', 'refused')),
        made_by text NOT NULL,
        made_at timestamptz(3) NOT NULL,
        decided_by text,
        decided_at timestamptz(3)
      );
      CREATE INDEX parked_edit_parked ON parked_edit (parked_id, id);
      -- A channel that is not read for now: flooded, or stopped by staff.
      CREATE TABLE channel_pause (
        channel_id int PRIMARY KEY,
        since timestamptz(3) NOT NULL,
        code text NOT NULL,
        reason text NOT NULL,
        paused_by text NOT NULL
      );
      -- Since when deaths of a channel count against its bounds: staff let it go on then.
      CREATE TABLE channel_allowance (
        channel_id int PRIMARY KEY,
        since timestamptz(3) NOT NULL
      );
      -- Who reads a partition; what is left of it when the process ended without a word.
      CREATE TABLE consumer_start (
        topic text NOT NULL,
        partition int NOT NULL,
        -- The process's number: it lives as long as somebody holds the advisory lock of that number.
        run int NOT NULL,
        instance text NOT NULL,
        started_at timestamptz(3) NOT NULL,
        PRIMARY KEY (topic, partition)
      );
      -- Parked messages that a process is trying; what is left of them when it ended without a word.
      CREATE TABLE drain_start (
        run int NOT NULL,
        partner text NOT NULL,
        ids bigint[] NOT NULL,
        begun_at timestamptz(3) NOT NULL,
        PRIMARY KEY (run, partner)
      );
      -- While records are read one at a time: how often each was begun by a process that then ended without a word.
      CREATE TABLE record_start (
        topic text NOT NULL,
        partition int NOT NULL,
        "offset" bigint NOT NULL,
        starts int NOT NULL,
        -- Who began it last; NULL: that one did not end by it.
        run int,
        PRIMARY KEY (topic, partition, "offset")
      );
    `);
  }

  /** Refuses where a message was resolved: the build before would take it for one that waits. */
  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TABLE record_start, drain_start, consumer_start, channel_allowance, channel_pause, parked_edit, parked_key_end;
      ALTER TABLE parked_inbound DROP CONSTRAINT parked_inbound_state_check;
      ALTER TABLE parked_inbound
        ADD CONSTRAINT parked_inbound_state_check CHECK (state IN ('waiting', 'held', 'dead')),
        DROP COLUMN version, DROP COLUMN holds, DROP COLUMN failed_in, DROP COLUMN root_cause, DROP COLUMN first_failed_at, DROP COLUMN counted_since, DROP COLUMN last_failed_at,
        DROP COLUMN attempt_log, DROP COLUMN starts, DROP COLUMN started_at, DROP COLUMN replay_id, DROP COLUMN edit_id, DROP COLUMN resolved_at,
        DROP COLUMN resolved_by, DROP COLUMN resolution, DROP COLUMN dlt_published_at, DROP COLUMN dlt_attempts, DROP COLUMN dlt_next_at, DROP COLUMN dlt_trouble;
      DROP INDEX parked_inbound_due, parked_inbound_dead, parked_inbound_correlation;
      CREATE INDEX parked_inbound_state ON parked_inbound (state, next_attempt_at);
    `);
  }
}
