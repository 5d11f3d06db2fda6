import { type Database, query, type Tx } from '../platform/database';
import type { Shipment } from './domain/shipment';
import { millionthsOf } from './domain/quantity';
import { ShipmentEntity } from './shipment.entity';

const COLUMNS = `partner, despatch_number AS "despatchNumber", order_number AS "orderNumber", order_version AS "orderVersion", message_id AS "messageId",
  issued_at AS "issuedAt", carrier, tracking_number AS "trackingNumber", gross_weight_grams::text AS "grossWeightGrams", lines, driver, recorded_at AS "recordedAt"`;

/** The SQL of this room, set-based, one statement a method. */
export class ShipmentRepository {
  constructor(private readonly database: Database) {}

  /** A page of an order's shipments as they were recorded: those after the step `after` of the order. */
  page(orderNumber: string, after: number, limit: number): Promise<Shipment[]> {
    return this.database.dataSource
      .getRepository(ShipmentEntity)
      .createQueryBuilder('s')
      .where('s.orderNumber = :orderNumber AND s.orderVersion > :after', { orderNumber, after })
      .orderBy('s.orderVersion')
      .limit(limit)
      .getMany();
  }

  /** Null where the partner has none with this number; of whichever order. */
  async find(partner: string, despatchNumber: string): Promise<Shipment | null> {
    // What can be no number of a despatch: PostgreSQL takes no NUL.
    if (despatchNumber.includes('\0')) return null;
    return this.database.dataSource.getRepository(ShipmentEntity).findOneBy({ partner, despatchNumber });
  }

  /** What the partner has recorded under these numbers, for whichever of its orders. */
  async recorded(tx: Tx, partner: string, despatchNumbers: readonly string[]): Promise<Map<string, Shipment>> {
    const rows = await query<Shipment>(
      tx,
      `SELECT ${COLUMNS} FROM shipment WHERE partner = :partner AND despatch_number = ANY(:despatchNumbers::text[])`,
      { partner, despatchNumbers },
    );
    return new Map(rows.map((row) => [row.despatchNumber, row]));
  }

  /**
   * Millionths despatched of each line of orders whose row lock is held: nothing is added to them meanwhile. Summed as
   * PostgreSQL's numeric, which is exact.
   */
  async despatched(tx: Tx, orderNumbers: readonly string[]): Promise<Map<string, Map<number, bigint>>> {
    const rows = await query<{ orderNumber: string; lineNumber: number; quantity: string }>(
      tx,
      `SELECT order_number AS "orderNumber", (line->>'lineNumber')::int AS "lineNumber", sum((line->>'quantity')::numeric)::text AS quantity
       FROM shipment CROSS JOIN jsonb_array_elements(lines) line WHERE order_number = ANY(:orderNumbers::text[]) GROUP BY 1, 2`,
      { orderNumbers },
    );
    return new Map(
      [...Map.groupBy(rows, (row) => row.orderNumber)].map(([orderNumber, lines]) => [
        orderNumber,
        new Map(lines.map(({ lineNumber, quantity }) => [lineNumber, millionthsOf(quantity)])),
      ]),
    );
  }

  /**
   * Records shipments of locked orders, sorted by number: two of these never wait for each other in a circle. Returns how many:
   * fewer than were given when another order's shipment took one of the numbers since {@link recorded}.
   */
  async add(tx: Tx, shipments: readonly Shipment[]): Promise<number> {
    if (shipments.length === 0) return 0;
    const column = <K extends keyof Shipment>(name: K) => shipments.map((shipment) => shipment[name]);
    const rows = await query(
      tx,
      `INSERT INTO shipment (partner, despatch_number, order_number, order_version, message_id, issued_at, carrier, tracking_number, gross_weight_grams, lines, driver, recorded_at)
       SELECT p, d, o, v, m, i, c, t, g, l::jsonb, w::jsonb, r
       FROM unnest(:partner::text[], :despatchNumber::text[], :orderNumber::text[], :orderVersion::int[], :messageId::text[], :issuedAt::text[], :carrier::text[],
                   :trackingNumber::text[], :grossWeightGrams::bigint[], :lines::text[], :driver::text[], :recordedAt::timestamptz[]) u (p, d, o, v, m, i, c, t, g, l, w, r)
       ORDER BY p, d ON CONFLICT (partner, despatch_number) DO NOTHING RETURNING 1`,
      {
        partner: column('partner'),
        despatchNumber: column('despatchNumber'),
        orderNumber: column('orderNumber'),
        orderVersion: column('orderVersion'),
        messageId: column('messageId'),
        issuedAt: column('issuedAt'),
        carrier: column('carrier'),
        trackingNumber: column('trackingNumber'),
        grossWeightGrams: column('grossWeightGrams'),
        lines: shipments.map((shipment) => JSON.stringify(shipment.lines)),
        driver: shipments.map(({ driver }) => driver && JSON.stringify(driver)),
        recordedAt: column('recordedAt'),
      },
    );
    return rows.length;
  }
}
