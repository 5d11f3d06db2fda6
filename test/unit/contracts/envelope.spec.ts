import { type Envelope, fromHeaders, type RawHeaders, toHeaders } from '../../../src/contracts';

const full: Envelope = {
  id: 'm-1',
  source: '/parley',
  type: 'parley.order-request.v1',
  time: '2026-03-01T10:00:00Z',
  subject: 'PO-1',
  dataSchema: 'urn:x',
  contentType: 'application/json',
  correlationId: 'c-1',
  causationId: 'm-0',
  traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`,
};

describe('the envelope of a message', () => {
  it('travels as CloudEvents in binary mode and comes back as it was', () => {
    const headers = toHeaders(full);
    expect(headers).toMatchObject({ ce_specversion: '1.0', ce_id: 'm-1', ce_subject: 'PO-1', ce_correlationid: 'c-1' });
    expect(headers['content-type']).toBe('application/json');
    expect(headers).not.toHaveProperty('ce_datacontenttype');
    expect(fromHeaders(headers)).toEqual(full);
  });

  it('leaves out what has no value, for a null header fails the send', () => {
    const { id, source, type, time } = full;
    expect(toHeaders({ id, source, type, time, causationId: undefined })).toEqual({
      ce_specversion: '1.0',
      ce_id: id,
      ce_source: source,
      ce_type: type,
      ce_time: time,
    });
  });

  it.each<[string, RawHeaders, string | undefined]>([
    ['the last of several', { ce_correlationid: [Buffer.from('a'), Buffer.from('b')] }, 'b'],
    ["Spring's, where ours is missing", { kafka_correlationId: Buffer.from('s') }, 's'],
    ["ours before Spring's", { ce_correlationid: 'c', kafka_correlationId: 's' }, 'c'],
    ["Spring's, where ours is empty", { ce_correlationid: '', kafka_correlationId: 's' }, 's'],
    ["none, where Spring's is empty", { kafka_correlationId: Buffer.alloc(0) }, undefined],
    ['none', {}, undefined],
  ])('has as its correlation id %s', (_, headers, correlationId) => {
    expect(fromHeaders(headers).correlationId).toBe(correlationId);
  });
});
