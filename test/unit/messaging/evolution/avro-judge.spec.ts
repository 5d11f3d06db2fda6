import { judgeSchemas } from '../../../../src/messaging/evolution';
import { AVRO_CHANGES } from './avro-changes';

const judged = (older: unknown, newer: unknown) =>
  judgeSchemas('avro', JSON.stringify(older), JSON.stringify(newer)).map(({ place, rule }) => `${place} ${rule}`);

describe('Avro', () => {
  it.each(AVRO_CHANGES.map((change) => [change.what, change] as const))('%s', (_, { older, newer, breaks }) => {
    expect(judged(older, newer)).toEqual(breaks);
  });

  it('compares names without their namespaces, as resolution does', () => {
    const order = (namespace: string) => ({ type: 'record', name: 'Order', namespace, fields: [] });
    expect(judged(order('p.v1'), order('q'))).toEqual([]);
  });

  it('finds a type by its full name, or by its namespace', () => {
    const order = (again: string) => ({
      ...{ type: 'record', name: 'p.v1.Order' },
      fields: [
        { name: 'a', type: { type: 'fixed', name: 'F', size: 2 } },
        { name: 'b', type: again },
      ],
    });
    expect(judged(order('F'), order('p.v1.F'))).toEqual([]);
    expect(judged(order('F'), order('q.F'))).toEqual([' unreadable']);
  });

  it.each([
    ['no JSON', '{'],
    ['no schema', '{"type":"record"}'],
    ['a type that is defined elsewhere', '{"type":"record","name":"A","fields":[{"name":"b","type":"B"}]}'],
    ['nested beyond measure', '{"type":'.repeat(100_000)],
  ])('calls unreadable what is %s', (_, text) => {
    expect(judgeSchemas('avro', text, '"string"').map(({ rule }) => rule)).toEqual(['unreadable']);
  });
});
