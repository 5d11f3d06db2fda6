import { type AnyContract, CONTRACTS, orderCancellation, orderRequest } from '../../../../src/contracts';
import { DeadlineHandlers } from '../../../../src/messaging/exchanges/deadline-handlers';

const nothing = () => Promise.resolve();
const wired = (...requests: Pick<AnyContract, 'name'>[]): DeadlineHandlers => {
  const handlers = new DeadlineHandlers();
  for (const request of requests) handlers.on(request, nothing);
  return handlers;
};

describe('the wiring of deadlines', () => {
  it('is complete when every request with a deadline has one handler', () => {
    expect(() => wired(orderRequest, orderCancellation).check(CONTRACTS)).not.toThrow();
  });

  it.each<[string, Pick<AnyContract, 'name'>[], string]>([
    ['a handler is missing', [orderRequest], 'nobody handles the deadline of order-cancellation'],
    [
      'one has two',
      [orderRequest, orderRequest, orderCancellation],
      'the deadline of order-request has more than one handler',
    ],
    [
      'one waits for nothing',
      [orderRequest, orderCancellation, { name: 'order-query' }],
      'a handler waits for the deadline of order-query, which has none',
    ],
  ])('is refused when %s', (_, requests, fault) => {
    expect(() => wired(...requests).check(CONTRACTS)).toThrow(fault);
  });

  it('names all faults at once, among them a deadline for what nobody answers', () => {
    const query: AnyContract = { ...orderRequest, name: 'order-query' };
    expect(() => wired().check([query])).toThrow(
      'Deadlines are not wired: nobody handles the deadline of order-query; order-query has a deadline and no document answers it.',
    );
  });
});
