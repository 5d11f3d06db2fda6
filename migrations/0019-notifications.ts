import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Notifications1764460800019 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- People and systems that are told what happens. Addresses are personal data.
      CREATE TABLE notification_receiver (
        id text PRIMARY KEY CHECK (id ~ '^[a-z][a-z0-9-]{0,63}$'),
        version int NOT NULL DEFAULT 1,
        name text NOT NULL,
        email text,
        phone text,
        webhook_url text,
        -- Between them, by the receiver's clock, only what can't wait is sent; both or none.
        quiet_from time,
        quiet_to time,
        time_zone text,
        created_at timestamptz(3) NOT NULL,
        updated_at timestamptz(3) NOT NULL
      );
      CREATE TABLE notification_subscription (
        receiver text NOT NULL REFERENCES notification_receiver (id) ON DELETE CASCADE,
        kind text NOT NULL,
        channel text NOT NULL CHECK (channel IN ('email', 'sms', 'webhook')),
        -- NULL: of all partners.
        partners text[],
        PRIMARY KEY (receiver, kind, channel)
      );
      CREATE INDEX notification_subscription_kind ON notification_subscription (kind);

      -- One message to one receiver over one channel. Its id is made from the event, the receiver and the channel.
      CREATE TABLE notification (
        id uuid PRIMARY KEY,
        version int NOT NULL DEFAULT 1,
        event_id text NOT NULL,
        kind text NOT NULL,
        channel text NOT NULL CHECK (channel IN ('email', 'sms', 'webhook')),
        -- Whose limits and whose breaker count: 'email', 'sms', 'webhook/<receiver>'.
        provider text NOT NULL,
        -- NULL: whoever asked for it named an address.
        receiver text,
        address text NOT NULL,
        partner text,
        order_number text,
        data jsonb NOT NULL,
        -- What other systems asked for, told apart from another request under the same id.
        request_hash bytea,
        -- What it says is shown to nobody, and is gone when it is settled.
        secret boolean NOT NULL DEFAULT false,
        -- What is sent, made for the first attempt and the same in each: a provider that knows our id must see the same again.
        content jsonb,
        state text NOT NULL DEFAULT 'pending'
          CHECK (state IN ('pending', 'sending', 'sent', 'failed', 'unknown', 'cancelled', 'expired')),
        happened_at timestamptz(3) NOT NULL,
        created_at timestamptz(3) NOT NULL,
        next_attempt_at timestamptz(3) NOT NULL,
        expires_at timestamptz(3) NOT NULL,
        settled_at timestamptz(3),
        -- Who has it, and until when; while the state is 'sending'.
        claim uuid,
        lease_until timestamptz(3),
        attempts int NOT NULL DEFAULT 0,
        -- When a request may first have reached the provider: its memory of our id counts from there.
        first_begun_at timestamptz(3),
        -- The last attempt may or may not have had its effect: nobody heard its end.
        doubtful boolean NOT NULL DEFAULT false,
        code text,
        detail text,
        resend_of uuid,
        resends int NOT NULL DEFAULT 0
      ) WITH (fillfactor = 80);
      CREATE INDEX notification_due ON notification (provider, next_attempt_at) WHERE state = 'pending';
      CREATE INDEX notification_expiry ON notification (expires_at) WHERE state = 'pending';
      -- Not by the state: by a word of it statements about one row would find all that is being sent, and filter.
      CREATE INDEX notification_lease ON notification (lease_until) WHERE lease_until IS NOT NULL;
      CREATE INDEX notification_order ON notification (order_number, created_at) WHERE order_number IS NOT NULL;
      -- Lists are read from it alone, whatever they are filtered by: one wide index in place of five.
      CREATE INDEX notification_created ON notification (created_at, id) INCLUDE (state, kind, channel, receiver, partner);
      -- What people look for; hardly any row is ever in it.
      CREATE INDEX notification_ended ON notification (state, created_at, id) WHERE state IN ('failed', 'unknown', 'cancelled', 'expired');
      -- What waits for a receiver that is changed or removed.
      CREATE INDEX notification_waiting ON notification (receiver) WHERE state = 'pending' AND receiver IS NOT NULL;
      -- A request has one receiver and one channel: whoever else uses its id waits for this one, and finds its hash.
      CREATE UNIQUE INDEX notification_request ON notification (event_id) WHERE request_hash IS NOT NULL;

      -- Whatever statement ends a secret one, its words go with it.
      CREATE FUNCTION notification_forget() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        NEW.data := '{}';
        NEW.content := NULL;
        RETURN NEW;
      END $$;
      CREATE TRIGGER notification_forget BEFORE UPDATE ON notification FOR EACH ROW
        WHEN (NEW.secret AND NEW.state NOT IN ('pending', 'sending')) EXECUTE FUNCTION notification_forget();

      -- What was tried: written before the provider is asked, completed after.
      CREATE TABLE notification_attempt (
        notification_id uuid NOT NULL REFERENCES notification (id) ON DELETE CASCADE,
        number int NOT NULL,
        -- 'send', or 'look-up': the provider was asked whether an earlier one had reached it.
        action text NOT NULL CHECK (action IN ('send', 'look-up')),
        begun_at timestamptz(3) NOT NULL,
        ended_at timestamptz(3),
        -- NULL while nobody has heard its end.
        outcome text,
        code text,
        detail text,
        provider_reference text,
        notifier text NOT NULL,
        PRIMARY KEY (notification_id, number)
      );

      -- Limits and breaker of a provider, the same for all processes.
      CREATE TABLE notification_provider (
        name text PRIMARY KEY,
        channel text NOT NULL CHECK (channel IN ('email', 'sms', 'webhook')),
        tokens double precision NOT NULL DEFAULT 0,
        refilled_at timestamptz(3),
        -- In a row; what a provider says of one address is none.
        failures int NOT NULL DEFAULT 0,
        failing_since timestamptz(3),
        -- Nothing is sent before; then one, as a trial.
        open_until timestamptz(3),
        disabled_at timestamptz(3),
        disabled_reason text,
        last_success_at timestamptz(3),
        last_code text,
        last_detail text
      );

      -- Sealed (AES-256-GCM) under a key that is not in the database.
      CREATE TABLE webhook_secret (
        receiver text NOT NULL REFERENCES notification_receiver (id) ON DELETE CASCADE,
        number int NOT NULL,
        sealed bytea NOT NULL,
        created_at timestamptz(3) NOT NULL,
        -- NULL: signs; otherwise it signs beside the newest until then.
        valid_until timestamptz(3),
        PRIMARY KEY (receiver, number)
      );

      -- Addresses that a provider refused for good; nothing more is sent there until staff ask for it.
      CREATE TABLE notification_bad_address (
        channel text NOT NULL,
        address text NOT NULL,
        code text NOT NULL,
        detail text NOT NULL,
        since timestamptz(3) NOT NULL,
        PRIMARY KEY (channel, address)
      );
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TABLE notification_bad_address, webhook_secret, notification_provider, notification_attempt, notification,
        notification_subscription, notification_receiver;
      DROP FUNCTION notification_forget();
    `);
  }
}
