import { ListOrdersDto } from '../../../../src/orders/order.dto';
import { AppError } from '../../../../src/platform/errors';
import { verdictOf } from '../../../../src/platform/http/problem';
import { DtoPipe } from '../../../../src/platform/http/validation.pipe';

const refusedFor = async (query: Record<string, string>): Promise<AppError> => {
  const pipe = new DtoPipe({ maxItems: 10 });
  const refusal: unknown = await pipe
    .transform(query, { type: 'query', metatype: ListOrdersDto })
    .catch((error: unknown) => error);
  if (refusal instanceof AppError) return refusal;
  throw new Error('it is not refused');
};

describe('what a caller is told of a refused request', () => {
  it('is one sentence for a value that breaks several rules of the same words', async () => {
    const { message, violations } = await refusedFor({ limit: 'x' });
    expect(violations).toEqual([{ pointer: 'limit', detail: 'must be a whole number from 1 to 200' }]);
    expect(message).toBe('limit must be a whole number from 1 to 200.');
  });

  it('names the first of several, and where the others are', async () => {
    const { message, violations } = await refusedFor({ limit: 'x', overdue: 'maybe' });
    expect(violations).toHaveLength(2);
    expect(message).toMatch(/\. And 1 more: see "errors"\.$/);
  });

  it('is the content type to send, where another one came', () => {
    const refused = Object.assign(new Error('Unsupported Media Type'), { statusCode: 415 });
    expect(verdictOf(refused)).toMatchObject({
      code: 'content-type-unsupported',
      detail: 'The body is not said to be JSON. Send it with Content-Type: application/json.',
    });
  });
});
