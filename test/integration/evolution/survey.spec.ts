import { despatchAdvice, orderRequest, orderResponse, typeOf } from '../../../src/contracts';
import type { SchemaInUse } from '../../../src/messaging/channels';
import { differencesOf, type Finding, inWords, survey, type Subject } from '../../../src/messaging/evolution';
import type { SchemaRegistry } from '../../../src/messaging/registry';
import { uniqueName } from '../../support/kafka';
import { registerSchema, testRegistry, uniqueSubject } from '../../support/registry';
import { AVRO_CHANGES } from '../../unit/messaging/evolution/avro-changes';
import { client, subjectOf, subjectWith } from './harness';

let url: string;
let registry: SchemaRegistry;

beforeAll(async () => {
  url = await testRegistry();
  registry = client(url);
});
afterAll(() => registry?.close());

describe('the registry, as another judge of Avro', () => {
  it.each(AVRO_CHANGES.map((change) => [change.what, change] as const))('%s', async (_, change) => {
    const [older, newer] = [JSON.stringify(change.older), JSON.stringify(change.newer)];
    const subject = uniqueSubject('judge');
    await registerSchema(url, subject, { schema: older });
    await registry.setCompatibility(subject, 'FULL_TRANSITIVE');
    const verdict = await registry.judge(subject, { format: 'avro', text: newer, references: [] });
    expect(verdict.compatible).toBe(change.registry);
    // A difference is stated with its reason, and only a difference is.
    expect(change.why === undefined).toBe(change.registry === (change.breaks.length === 0));
  });
});

const avro = (...fields: unknown[]) =>
  JSON.stringify({ type: 'record', name: 'OrderResponse', namespace: 'parley.v1', fields });
const ID = { name: 'id', type: 'string' };
const TWO = { name: 'two', type: ['null', 'string'], default: null };
const proto = (body: string) => `syntax = "proto3";\npackage parley.v1;\n\nmessage OrderResponse {\n${body}\n}\n`;
const json = (properties: object) => JSON.stringify({ type: 'object', properties });

/** What `finding` says, shortly. */
const brief = ({ breaks }: Finding) =>
  breaks.map(({ version, place, rule }) => `${version ?? '-'} ${place} ${rule}`.replaceAll('  ', ' '));

async function look(subject: Subject, uses: readonly Partial<SchemaInUse>[] = []): Promise<Finding> {
  const whole = uses.map((use) => ({
    ...{ partner: subject.partner, topic: subject.topic, type: typeOf(subject.contract), schemaId: 0 },
    ...{ firstSeenAt: new Date(0), lastSeenAt: new Date(0) },
    ...use,
  }));
  const [finding] = await survey(registry, [subject], whole);
  if (!finding) throw new Error('no finding');
  return finding;
}

describe('a survey', () => {
  const partner = () => uniqueName('acme');

  it('finds nothing in what nobody registered', async () => {
    const finding = await look(subjectOf(partner(), orderResponse, 'avro'));
    expect(finding).toMatchObject({ versions: [], published: undefined, breaks: [] });
    expect(differencesOf([finding]).map(inWords)).toEqual([
      `order-response (avro): is not published yet; ${finding.subject.partner}`,
    ]);
  });

  it.each([
    {
      ...({ format: 'avro', schemaType: 'AVRO', place: 'two' } as const),
      registered: [avro(ID, TWO), avro(ID)],
      now: avro(ID, { name: 'two', type: ['null', 'int'], default: null }),
    },
    {
      ...({ format: 'protobuf', schemaType: 'PROTOBUF', place: 'OrderResponse.two' } as const),
      registered: [proto('optional string two = 2;'), proto('reserved 2; reserved "two";')],
      now: proto('optional int32 two = 2;'),
    },
    {
      ...({ format: 'json-schema', schemaType: 'JSON', place: 'two' } as const),
      registered: [json({ two: { type: 'string' } }), json({})],
      now: json({ two: { type: 'integer' } }),
    },
  ])('of $format sees a break against version 1 beside a version 2 that lacks the member', async (change) => {
    const subject = subjectWith(partner(), orderResponse, change.format, change.now);
    for (const schema of change.registered)
      await registerSchema(url, subject.name, { schema, schemaType: change.schemaType });
    const retyped = (await look(subject)).breaks.filter(({ rule }) => rule === 'type-changed');
    expect(retyped).toMatchObject([{ version: 1, place: change.place }]);
  });

  it('takes the registry for a judge where ours finds nothing', async () => {
    const subject = subjectWith(
      partner(),
      orderResponse,
      'avro',
      avro(ID, { name: '1 two', type: ['null', 'string'], default: null }),
    );
    await registerSchema(url, subject.name, { schema: avro(ID) });
    await registry.setCompatibility(subject.name, 'FULL_TRANSITIVE');
    expect(brief(await look(subject))).toEqual(['- registry-refused']);
  });

  it('sees a subject that was registered in another format, and one that refers to others', async () => {
    const subject = subjectWith(partner(), orderResponse, 'json-schema', json({}));
    await registerSchema(url, subject.name, { schema: avro(ID) });
    expect(brief(await look(subject))).toEqual(['1 format-changed']);
    const shared = uniqueSubject('shared');
    await registerSchema(url, shared, { schema: '{"type":"fixed","name":"parley.v1.F","size":4}' });
    const other = subjectWith(partner(), orderResponse, 'avro', avro(ID));
    await registerSchema(url, other.name, {
      schema: avro(ID, { name: 'f', type: 'parley.v1.F' }),
      references: [{ name: 'parley.v1.F', subject: shared, version: 1 }],
    });
    expect(brief(await look(other))).toEqual(['1 not-comparable']);
  });

  it('sees a version that nobody could read', async () => {
    const subject = subjectWith(partner(), orderResponse, 'json-schema', json({}));
    const deep = `{"type":"object","properties":{"a":${'{"items":'.repeat(70)}{}${'}'.repeat(70)}}}`;
    await registerSchema(url, subject.name, { schema: deep, schemaType: 'JSON' });
    expect(brief(await look(subject))).toEqual(['- unreadable']);
  });

  it('compares deleted versions, too: records still name them', async () => {
    const subject = subjectWith(partner(), orderResponse, 'avro', avro({ name: 'id', type: 'int' }));
    await registerSchema(url, subject.name, { schema: avro(ID) });
    await registerSchema(url, subject.name, { schema: avro({ name: 'id', type: 'int' }) });
    const deleted = await fetch(`${url}/subjects/${encodeURIComponent(subject.name)}/versions/1`, { method: 'DELETE' });
    expect(deleted.status).toBe(200);
    expect(brief(await look(subject))).toEqual(['1 id type-changed']);
  });

  it("knows the versions that records named, also of a topic's own subject, and names an id that nobody has", async () => {
    const subject = subjectWith(partner(), orderResponse, 'avro', avro(ID, TWO));
    const mine = await registerSchema(url, subject.name, { schema: avro(ID) });
    const theirs = await registerSchema(url, `${subject.topic}-value`, {
      schema: avro(ID, { name: 'n', type: 'int' }),
    });
    const finding = await look(subject, [{ schemaId: mine }, { schemaId: theirs }, { schemaId: 2_000_000_000 }]);
    expect(finding.used.map(({ version }) => version)).toEqual([1, 1, undefined]);
    expect(brief(finding)).toEqual(['1 n field-removed-required', '- id-unregistered']);
    expect(finding.breaks[0]?.detail).toContain(`(${subject.topic}-value)`);
    // Of another document or topic: none of this one's business.
    expect(brief(await look(subject, [{ schemaId: 2_000_000_000, type: 'parley.other.v1' }]))).toEqual([]);
    expect(brief(await look(subject, [{ schemaId: 2_000_000_000, topic: 'orders.other.response.v1' }]))).toEqual([]);
  });
});

describe('differences', () => {
  const words = async (...subjects: Subject[]) => differencesOf(await survey(registry, subjects, [])).map(inWords);

  it('say what comes, goes and is told otherwise, and what that means where we write and where the partner does', async () => {
    const [a, b] = [uniqueName('acme'), uniqueName('globex')];
    const then = avro(ID, TWO);
    const now = avro(
      { ...ID, doc: 'Ours.' },
      {
        name: 'lines',
        type: ['null', { type: 'array', items: { type: 'record', name: 'L', fields: [ID] } }],
        default: null,
      },
    );
    const subjects = [a, b].map((partner) => subjectWith(partner, orderRequest, 'avro', now));
    const inbound = subjectWith(a, despatchAdvice, 'avro', now);
    for (const { name } of [...subjects, inbound]) await registerSchema(url, name, { schema: then });
    expect(await words(...subjects, inbound)).toEqual([
      `order-request (avro): adds optional \`lines\`; ${a} (v1), ${b} (v1) ignore it`,
      `order-request (avro): removes optional \`two\`; ${a} (v1), ${b} (v1) get it no longer`,
      `order-request (avro): describes \`id\` otherwise; ${a} (v1), ${b} (v1)`,
      `despatch-advice (avro): adds optional \`lines\`; ${a} (v1) does not send it`,
      `despatch-advice (avro): removes optional \`two\`; ${a} (v1) may still send it, and nobody reads it`,
      `despatch-advice (avro): describes \`id\` otherwise; ${a} (v1)`,
    ]);
  });

  it('of Protobuf and JSON Schema name members where they stand in the document', async () => {
    const partner = uniqueName('acme');
    const pb = subjectWith(
      partner,
      orderResponse,
      'protobuf',
      proto('repeated Line lines = 1; message Line { optional string incoterm = 1; }'),
    );
    await registerSchema(url, pb.name, {
      schema: proto('repeated Line lines = 1; message Line {}'),
      schemaType: 'PROTOBUF',
    });
    const js = subjectWith(
      partner,
      orderRequest,
      'json-schema',
      json({ lines: { items: { properties: { incoterm: {} } } } }),
    );
    await registerSchema(url, js.name, { schema: json({ lines: { items: {} } }), schemaType: 'JSON' });
    expect(await words(pb, js)).toEqual([
      `order-response (protobuf): adds optional \`lines[].incoterm\`; ${partner} (v1) does not send it`,
      `order-request (json-schema): adds optional \`lines[].incoterm\`; ${partner} (v1) ignores it`,
    ]);
  });

  it('name breaks, and are none where nothing differs', async () => {
    const partner = uniqueName('acme');
    const subject = subjectWith(partner, orderResponse, 'avro', avro({ name: 'id', type: 'int' }));
    await registerSchema(url, subject.name, { schema: avro(ID) });
    expect(await words(subject)).toEqual([`order-response (avro): breaks \`id\` (type-changed); ${partner} (v1)`]);
    const same = subjectOf(partner, orderRequest, 'avro');
    await registerSchema(url, same.name, { schema: same.schema.text });
    expect(await words(same)).toEqual([]);
  });
});
