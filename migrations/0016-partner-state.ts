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
      -- When nothing was sent to a partner. The one that has no end is now.
      CREATE TABLE partner_stop (
        id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        partner text NOT NULL REFERENCES partner (id),
        stopped_at timestamptz(3) NOT NULL,
        resumed_at timestamptz(3)
      );
      -- An earlier version had no command for it, but kept to the state.
      INSERT INTO partner_stop (partner, stopped_at) SELECT id, now() FROM partner WHERE state = 'suspended';
      CREATE UNIQUE INDEX partner_stop_open ON partner_stop (partner) WHERE resumed_at IS NULL;
      CREATE INDEX partner_stop_ended ON partner_stop (partner, resumed_at);
      -- The broker may delete what is unread from then on; NULL: nobody knows, or never.
      ALTER TABLE channel_pause ADD COLUMN kept_until timestamptz(3);
      -- The state of a partner, which then stays so until the transaction ends: who changes it takes the same lock alone. One round trip for both,
      -- since a batch pays for it; in a volatile function the second statement sees what was committed while the first one waited.
      -- Not FOR SHARE of the row: sharers that overlap keep an UPDATE waiting for seconds, and each of them writes the row.
      CREATE FUNCTION partner_state(asked text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
      BEGIN
        PERFORM pg_advisory_xact_lock_shared(7275393, hashtext(asked));
        RETURN (SELECT state FROM partner WHERE id = asked);
      END $$;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP FUNCTION partner_state(text);
      ALTER TABLE channel_pause DROP COLUMN kept_until;
      DROP TABLE partner_stop;
      ALTER TABLE partner
        DROP COLUMN state_by, DROP COLUMN state_reason, DROP COLUMN state_since, DROP COLUMN version,
        DROP CONSTRAINT partner_state_check,
        ADD CONSTRAINT partner_state_check CHECK (state IN ('active', 'suspended'));
    `);
  }
}
