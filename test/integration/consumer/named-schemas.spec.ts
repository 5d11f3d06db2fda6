import { type OrderResponse, orderResponse, subjectFor } from '../../../src/contracts';
import { SchemaUse } from '../../../src/messaging/channels';
import { createProcessor } from '../../../src/messaging/consumer';
import { createCodec } from '../../../src/messaging/registry';
import { eventually } from '../../support/eventually';
import { uniqueName } from '../../support/kafka';
import { registerSchema, testRegistry } from '../../support/registry';
import {
  addChannel,
  appliedSteps,
  handler,
  LIMITS,
  logger,
  openWorld,
  parkedRows,
  Tape,
  TestBatch,
  type World,
} from './harness';
import { avroBytes, countingRegistry, framed, published } from './registered';

const AVRO = published(orderResponse, 'avro');
const answer = (orderNumber: string, change: Partial<OrderResponse> = {}): Buffer =>
  avroBytes(AVRO, { orderNumber, responseCode: 'AP', issuedAt: '2026-03-01T10:00:00Z', ...change });

describe('a record leaves behind which schema it named, by channel and document,', () => {
  let world: World;
  let url: string;

  beforeAll(async () => {
    [world, url] = await Promise.all([openWorld(), testRegistry()]);
  });
  afterAll(() => world.close());

  it.each([
    ['when it takes effect', answer('order-1'), undefined],
    ['when it breaks a rule', answer('order-1', { responseCode: 'not a code' }), 'invalid'],
    ['when its key is not the document’s', answer('order-2'), 'key-mismatch'],
    ['when its bytes are not of the schema', Buffer.from([0xff]), 'undecodable'],
  ])('%s', async (_, body, code) => {
    const partner = uniqueName('p');
    const topic = `orders.${partner}.response.v1`;
    await world.database.query(`INSERT INTO partner (id, name, created_at) VALUES (:partner, :partner, now())`, {
      partner,
    });
    await addChannel(world, partner, { topic, format: 'avro' });
    const id = await registerSchema(url, subjectFor(orderResponse, topic), { schema: AVRO });
    const registry = countingRegistry(url);
    const { database, channels } = world;
    const codec = createCodec(registry);
    const contracts = [orderResponse];
    const processor = createProcessor({ config: LIMITS, database, channels, codec, logger, contracts }, handler());
    const record = new Tape(topic).record({ contract: orderResponse as never, value: framed(id, body) });
    await processor.process(new TestBatch([record]));
    const used = await eventually(async () => {
      const uses = (await SchemaUse.list(database)).filter((use) => use.partner === partner);
      return uses.length > 0 && uses;
    });
    expect(used).toMatchObject([{ topic, type: 'parley.order-response.v1', schemaId: id }]);
    expect(await appliedSteps(world, partner)).toHaveLength(code === undefined ? 1 : 0);
    expect((await parkedRows(world, partner)).map((row) => row.code)).toEqual(code === undefined ? [] : [code]);
    await processor.close();
    await registry.close();
  });
});
