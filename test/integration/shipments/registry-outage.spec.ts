import { despatchReceipt } from '../../../src/contracts';
import { createCodec, createSchemaRegistry, type SchemaRegistry } from '../../../src/messaging/registry';
import { eventually } from '../../support/eventually';
import { testRegistry } from '../../support/registry';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy';
import { TestBatch } from '../consumer/harness';
import { publishAvro, unframe } from './published';
import {
  accepted,
  adviceRecord,
  deliver,
  despatchesOf,
  goods,
  parkedOn,
  type ShipmentsApp,
  showOrder,
  startShipments,
} from './shipments-app';

describe('while the schema registry is away', () => {
  let proxy: TcpProxy;
  let registry: SchemaRegistry;
  let shipments: ShipmentsApp;
  const schemas = new Map<string, number>();

  beforeAll(async () => {
    const url = await testRegistry();
    for (const partner of ['acme', 'umbra']) {
      schemas.set(partner, (await publishAvro(url, partner)).get(despatchReceipt) ?? 0);
    }
    const { hostname, port, pathname } = new URL(url);
    proxy = await startTcpProxy({ port: Number(port), host: hostname });
    const schemaRegistryUrls = [`http://${proxy.address}${pathname}`];
    registry = createSchemaRegistry({ schemaRegistryUrls, schemaRegistryDeadlineMs: 3000 });
    shipments = await startShipments({ codec: createCodec(registry), format: 'avro' });
  });
  afterAll(async () => {
    await shipments?.close();
    await registry?.close();
    await proxy?.close();
  });

  const receiptsOf = async (orderNumber: string) =>
    (
      await shipments.database.query<{ payload: Buffer }>(
        `SELECT payload FROM outbox_message WHERE aggregateid = :orderNumber AND type = 'parley.despatch-receipt.v1'`,
        { orderNumber },
      )
    ).map(({ payload }) => unframe(despatchReceipt, payload));

  /** Transactions whose next statement is yet to come, since when. */
  const idle = async () => {
    const sessions = await shipments.database.query<{ since: string }>(
      `SELECT pid || ' since ' || state_change AS since FROM pg_stat_activity
       WHERE datname = current_database() AND state = 'idle in transaction'`,
    );
    return sessions.map(({ since }) => since);
  };

  const gone = (on: boolean) => {
    proxy.refuse(on);
    proxy.cutAll();
  };
  const silent = (on: boolean) => (on ? proxy.pause() : proxy.resume());

  // Each partner has a topic, and so a schema, of its own, which nobody has asked for yet.
  it.each([
    ['gone', 'acme', gone],
    ['silent', 'umbra', silent],
  ])(
    'an advice whose receipt was never made waits for it (%s), blames nobody and holds no transaction open',
    async (_, partner, away) => {
      const consumer = shipments.consumer();
      const orderNumber = await accepted(shipments, consumer, partner);
      const record = adviceRecord({ orderNumber, despatchNumber: 'D-1', lines: goods('1') }, { partner });
      away(true);
      const first = consumer.process(new TestBatch([record]));
      // A session that shows the same in many looks waits for something else than the database, and not for a slow machine: that looks as slowly.
      const looks = new Map<string, number>();
      await eventually(
        async () => {
          for (const one of await idle()) looks.set(one, (looks.get(one) ?? 0) + 1);
          return consumer.signals.waitingFor === 'registry';
        },
        { interval: 5, what: 'the consumer waits' },
      );
      expect([...looks].filter(([, times]) => times > 15)).toEqual([]);
      expect(await parkedOn(shipments, orderNumber)).toEqual([]);
      expect(await showOrder(shipments, orderNumber)).toMatchObject({ state: 'accepted', version: 2 });
      away(false);
      await first;
      // Where it took so long that the partition was given back, the records come again.
      await eventually(
        async () => {
          await deliver(consumer, record);
          return (await despatchesOf(shipments, orderNumber)).length === 1;
        },
        { what: 'the advice is applied' },
      );
      expect(await receiptsOf(orderNumber)).toMatchObject([
        { schemaId: schemas.get(partner), value: { receiptCode: 'AP', reasonCode: null } },
      ]);
    },
  );

  it('an advice whose receipt was made before is applied as ever', async () => {
    const consumer = shipments.consumer();
    const [before, orderNumber] = [await accepted(shipments, consumer), await accepted(shipments, consumer)];
    await deliver(consumer, adviceRecord({ orderNumber: before, despatchNumber: 'D-1b', lines: goods('1') }));
    gone(true);
    await deliver(consumer, adviceRecord({ orderNumber, despatchNumber: 'D-2', lines: goods('13') }));
    gone(false);
    expect(await receiptsOf(orderNumber)).toMatchObject([
      { schemaId: schemas.get('acme'), value: { receiptCode: 'RE', reasonCode: 'over-delivery' } },
    ]);
  });
});
