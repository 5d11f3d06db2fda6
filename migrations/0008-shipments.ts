import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Shipments1764460800008 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- What partners say they have sent; refused despatches are not here. A number is its partner's, and stands for one despatch.
      CREATE TABLE shipment (
        partner text NOT NULL,
        despatch_number text NOT NULL,
        order_number text NOT NULL,
        -- The order's after the despatch: its step in order_event.
        order_version int NOT NULL,
        message_id text NOT NULL,
        -- In the partner's words: no time that must be one.
        issued_at text NOT NULL,
        carrier text,
        tracking_number text,
        gross_weight_grams bigint,
        lines jsonb NOT NULL,
        recorded_at timestamptz(3) NOT NULL,
        CONSTRAINT shipment_pkey PRIMARY KEY (partner, despatch_number)
      );
      CREATE UNIQUE INDEX shipment_order ON shipment (order_number, order_version);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE shipment');
  }
}
