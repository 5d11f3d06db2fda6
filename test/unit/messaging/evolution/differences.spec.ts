import { orderRequest } from '../../../../src/contracts';
import { differencesOf, type Finding, inWords } from '../../../../src/messaging/evolution';

const finding = (older: string, newer: string, changed: Partial<Finding> = {}): Finding => ({
  subject: {
    ...{ partner: 'acme', topic: 'orders.acme.request.v1', contract: orderRequest, direction: 'out', name: 's' },
    schema: { format: 'avro', text: newer, references: [] },
  },
  versions: [{ id: 7, version: 1, subject: 's', format: 'avro', text: older, references: [] }],
  ...{ published: undefined, used: [], breaks: [] },
  ...changed,
});
const record = (...fields: unknown[]) => JSON.stringify({ type: 'record', name: 'A', fields });
const optional = { name: 'incoterm', type: ['null', 'string'], default: null };

describe('differences in words', () => {
  it('say who knows which version: the one that records named last, else the newest', () => {
    const used = [
      { schemaId: 7, version: 1, lastSeenAt: new Date(2) },
      { schemaId: 8, version: 2, lastSeenAt: new Date(1) },
    ];
    const [then, now] = [record(), record(optional)];
    const words = 'order-request (avro): adds optional `incoterm`; acme (v1) ignores it';
    expect(differencesOf([finding(then, now)]).map(inWords)).toEqual([words]);
    const versions = [1, 2, 3].map((version) => ({
      id: version,
      version,
      subject: 's',
      format: 'avro' as const,
      text: then,
      references: [],
    }));
    expect(differencesOf([finding(then, now, { used, versions })]).map(inWords)).toEqual([words]);
    expect(differencesOf([finding(then, now, { versions })]).map(inWords)).toEqual([words.replace('v1', 'v3')]);
  });

  it('end in time where types hold each other many times over', () => {
    // 20 records, each of which holds the next one in 40 members: 40^20 paths.
    const record = (n: number): object => ({
      ...{ type: 'record', name: `R${n}` },
      fields: Array.from({ length: 40 }, (_, at) => ({
        name: `f${at}`,
        type: n === 20 ? 'int' : at === 0 ? record(n + 1) : `R${n + 1}`,
      })),
    });
    const [difference] = differencesOf([
      finding(JSON.stringify(record(0)), '{"type":"record","name":"A","fields":[]}'),
    ]);
    expect(difference?.change).toMatch(/^is not described in words: it describes more than 2000 members/);
  });
});
