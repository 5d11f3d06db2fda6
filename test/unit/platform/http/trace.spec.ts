import { childTraceparent, requestIdOf, traceIdOf } from '../../../../src/platform/http/trace';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const traceparent = `00-${TRACE}-00f067aa0ba902b7-01`;

describe('the trace of a request', () => {
  it("is the caller's where it sends a traceparent", () => {
    expect(traceIdOf({ traceparent })).toBe(TRACE);
  });

  it.each([
    undefined,
    '',
    'nonsense',
    `01-${TRACE}-00f067aa0ba902b7-01`,
    `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    traceparent.toUpperCase(),
    `${traceparent}\n`,
  ])('is a new one for %j', (given) => {
    const id = traceIdOf(given === undefined ? {} : { traceparent: given });
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    expect(id).not.toBe(TRACE);
  });

  it('goes on with a span of its own and the sampling of the caller', () => {
    expect(childTraceparent({ traceparent }, TRACE)).toMatch(
      new RegExp(`^00-${TRACE}-(?!00f067aa0ba902b7)[0-9a-f]{16}-01$`),
    );
    expect(childTraceparent({}, TRACE)).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`));
  });
});

describe('the request id', () => {
  it("is the caller's where it is harmless, else the trace", () => {
    expect(requestIdOf({ 'x-request-id': 'a.b/c:1' }, TRACE)).toBe('a.b/c:1');
    expect(requestIdOf({ 'x-request-id': 'a\nb' }, TRACE)).toBe(TRACE);
    expect(requestIdOf({ 'x-request-id': 'x'.repeat(129) }, TRACE)).toBe(TRACE);
    expect(requestIdOf({}, TRACE)).toBe(TRACE);
  });
});
