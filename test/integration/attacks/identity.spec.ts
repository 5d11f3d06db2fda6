import { despatchAdvice, typeOf } from '../../../src/contracts';
import { eventually } from '../../support/eventually';
import { healing } from '../../support/faults';
import { produce, readAll, type RecordToProduce, uniqueName, withAdmin } from '../../support/kafka';
import { right } from '../../support/topic-faults';
import { acceptance, answer, headerOf, type Onboarded, openStage, type PlacedOrder, type Stage } from './stage';

let stage: Stage;
let acme: Onboarded;
let globex: Onboarded;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(async () => {
  [acme, globex] = [await stage.onboard('acme'), await stage.onboard('globex')];
});

const accepted = (order: PlacedOrder) =>
  eventually(async () => (await stage.stateOf(order)) === 'accepted', { what: 'it is accepted' });

/** What acme wrote before is judged when an order of its own is accepted: one partition, in order. */
async function readToHere(): Promise<void> {
  const own = await stage.place(acme);
  await answer(acme, acceptance(own));
  await accepted(own);
}

const reportsTo = async ({ topics, door }: Onboarded) =>
  (await readAll(topics.errors, door)).map(({ value }) => JSON.parse(String(value)) as Record<string, unknown>);

describe("who answers another partner's order on a topic of its own", () => {
  it('is refused by the ledger, told of in log and metrics, and learns nothing of that order', async () => {
    const theirs = await stage.place(globex);
    const made = acceptance({ orderNumber: uniqueName('no'), correlationId: uniqueName('none') });
    await answer(acme, acceptance(theirs), made);
    await readToHere();
    expect(await stage.stateOf(theirs)).toBe('placed');
    expect(await stage.parked(acme)).toEqual([
      ['exchange-foreign', 'dead'],
      ['exchange-unknown', 'dead'],
    ]);
    expect(await stage.parked(globex)).toEqual([]);
    // Log and metrics come behind the commit.
    const told = { security: true, code: 'exchange-foreign', partner: acme.id, owner: globex.id };
    const count = `parley_inbox_messages_total{topic="${acme.topics.responses}",result="dead"} 2`;
    await eventually(async () => {
      expect(stage.lines).toContainEqual(expect.objectContaining(told));
      const metrics = await (await fetch(`${stage.running.managementUrl}/metrics`)).text();
      return metrics.includes(count);
    });
    // Word for word what it is told of an exchange that never was.
    const reports = await eventually(async () => ((await reportsTo(acme)).length === 2 ? reportsTo(acme) : undefined));
    const [foreign, unknown] = reports.map(({ code, title, detail, type }) => ({ code, title, detail, type }));
    expect(foreign).toEqual(unknown);
    expect(JSON.stringify(reports)).not.toContain(globex.id);
    // Its own word still counts.
    await answer(globex, acceptance(theirs));
    await accepted(theirs);
  });

  it('gets nowhere by its order number under an exchange of its own, nor by its message id', async () => {
    const [own, theirs] = [await stage.place(acme), await stage.place(globex)];
    const stolen = { ...theirs, correlationId: own.correlationId };
    await answer(acme, acceptance(stolen, { ce_id: 'same', ce_source: `/partner/${globex.id}` }));
    await readToHere();
    expect((await stage.parked(acme)).map(([, state]) => state)).toEqual(['dead']);
    expect(await stage.stateOf(theirs)).toBe('placed');
    // The id that acme has used is not used up for globex.
    await answer(globex, acceptance(theirs, { ce_id: 'same' }));
    await accepted(theirs);
  });
});

it('who was given a right on the topic of another by mistake is that other there: the topic is the identity', async () => {
  const rights = (['WRITE', 'DESCRIBE'] as const).map((operation) =>
    right(acme.account.username, 'TOPIC', globex.topics.responses, operation),
  );
  healing(() => withAdmin(stage.administrator, (admin) => admin.deleteAcls({ filters: rights })));
  await withAdmin(stage.administrator, (admin) => admin.createAcls({ creations: rights }));
  const theirs = await stage.place(globex);
  await produce(globex.topics.responses, [acceptance(theirs, { ce_source: `/partner/${acme.id}` })], acme.door);
  await accepted(theirs);
  // It goes no further than that topic: acme's own exchanges are strange there.
  const own = await stage.place(acme);
  await produce(globex.topics.responses, [acceptance(own)], acme.door);
  await eventually(async () => (await stage.parked(globex)).length === 1);
  expect(await stage.parked(globex)).toEqual([['exchange-foreign', 'dead']]);
  expect(await stage.stateOf(own)).toBe('placed');
});

describe('headers', () => {
  const despatch = (orderNumber: string, headers: RecordToProduce['headers'] = {}): RecordToProduce => ({
    key: orderNumber,
    value: JSON.stringify({
      ...{ orderNumber, despatchNumber: uniqueName('D'), issuedAt: '2026-03-02T10:00:00Z', carrier: 'Parcel Ltd' },
      ...{ lines: [{ lineNumber: 1, quantity: '1' }] },
    }),
    headers: {
      ...{ ce_specversion: '1.0', ce_id: uniqueName('id'), ce_source: '/partner', ce_type: typeOf(despatchAdvice) },
      ...{ ce_correlationid: uniqueName('despatch'), ...headers },
    },
  });

  it('that name a place for the reply redirect nothing: it goes to the topic that we know', async () => {
    const order = await stage.place(acme);
    await answer(acme, acceptance(order));
    await accepted(order);
    const elsewhere = globex.topics.requests;
    const redirecting = {
      ...{ kafka_replyTopic: elsewhere, 'reply-topic': elsewhere, replyTo: elsewhere, ce_replyto: elsewhere },
      ...{ kafka_replyPartition: Buffer.from([0, 0, 0, 7]), kafka_nest_reply_topic: elsewhere },
      ...{ 'kafka_nest-reply-topic': elsewhere, kafka_correlationId: 'another', ce_source: `/partner/${globex.id}` },
    };
    const said = despatch(order.orderNumber, { ...redirecting, ce_correlationid: 'the-right-one' });
    await produce(acme.topics.advices, [said], acme.door);
    const [receipt] = await eventually(async () => {
      const receipts = await readAll(acme.topics.receipts, acme.door);
      return receipts.length > 0 ? receipts : undefined;
    });
    expect(receipt && headerOf(receipt, 'ce_correlationid')).toBe('the-right-one');
    expect(Object.keys(receipt?.headers ?? {}).filter((name) => /reply|nest/i.test(name))).toEqual([]);
    for (const topic of Object.values(globex.topics)) expect(await readAll(topic, stage.administrator)).toEqual([]);
  });

  it.each<[what: string, headers: () => Record<string, string>]>([
    ['called as members of every object', () => ({ constructor: 'x', toString: 'x', ['__proto__']: 'x' })],
    ['of 900 kB', () => ({ 'x-large': 'x'.repeat(900_000) })],
    ['fifty thousand in number', () => Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`h${n}`, 'x']))],
  ])(
    '%s cost nobody anything: the record is applied, and kept as it came where it dies',
    async (_what, make) => {
      const order = await stage.place(acme);
      const hostile = make();
      const dying = acceptance({ orderNumber: order.orderNumber, correlationId: 'none' });
      const all = (record: ReturnType<typeof acceptance>) => ({
        ...record,
        headers: { ...hostile, ...record.headers },
      });
      for (const record of [acceptance(order), { ...dying, key: 'other' }]) await answer(acme, all(record));
      await accepted(order);
      await eventually(async () => (await stage.parked(acme)).length === 1);
      const [row] = await stage.database.query<{ names: string[] }>(
        `SELECT ARRAY(SELECT convert_from(n, 'UTF8') FROM unnest(header_names) n) AS names FROM parked_inbound WHERE partner = :id`,
        { id: acme.id },
      );
      expect(row?.names).toEqual(expect.arrayContaining(Object.keys(hostile).slice(0, 100)));
      expect(row?.names.length).toBeGreaterThan(Object.keys(hostile).length);
    },
    120_000,
  );
});

it('what a suspended partner sends of all this is kept, and judged when it is resumed', async () => {
  const [own, theirs] = [await stage.place(acme), await stage.place(globex)];
  const change = (verb: string) =>
    stage.ask('POST', `/v1/partners/${acme.id}/${verb}`, { reason: 'an attack' }).then(({ status }) => status);
  expect(await change('suspension')).toBe(200);
  await answer(acme, acceptance(theirs), acceptance(own));
  await eventually(async () => (await stage.parked(acme)).length === 2);
  expect([await stage.stateOf(own), await stage.stateOf(theirs)]).toEqual(['placed', 'placed']);
  expect(await change('resumption')).toBe(200);
  await accepted(own);
  await eventually(async () => (await stage.parked(acme)).some(([code]) => code === 'exchange-foreign'));
  expect(await stage.stateOf(theirs)).toBe('placed');
});
