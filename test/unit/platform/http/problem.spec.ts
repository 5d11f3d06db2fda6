import { HttpException } from '@nestjs/common';
import { RegistryUnavailable } from '../../../../src/messaging/registry';
import { AppError, NonRetriableError } from '../../../../src/platform/errors';
import { problemOf, verdictOf } from '../../../../src/platform/http/problem';
import { PROBLEM_CODES } from '../../../../src/platform/http/problem-codes';

describe('what a caller is told of an error', () => {
  it('gives the status of its code, its violations and its next step', () => {
    const error = new NonRetriableError('order-invalid', 'It breaks.', {
      violations: [{ pointer: '/a', detail: 'is b' }],
      hint: 'Mend it.',
    });
    expect(problemOf(verdictOf(error), '/v1/orders', 't')).toEqual({
      type: '/docs/problems/order-invalid',
      title: 'The order breaks a rule',
      status: 422,
      detail: 'It breaks. Mend it.',
      instance: '/v1/orders',
      code: 'order-invalid',
      traceId: 't',
      errors: [{ pointer: '/a', detail: 'is b' }],
    });
  });

  it.each([
    ['an error of ours whose code has no page', new AppError('secret-thing', 'the password is 1234')],
    ['a code that is a member of every object', new AppError('constructor', 'x')],
    ['any other error', new TypeError('cannot read x of undefined')],
    ['a thrown string', 'boom'],
    ['nothing at all', undefined],
  ])('says nothing of the inside for %s', (_, error) => {
    const verdict = verdictOf(error);
    expect(verdict).toMatchObject({ code: 'internal', status: 500, errors: [] });
    expect(JSON.stringify(verdict)).not.toMatch(/1234|cannot read|boom/);
  });

  it.each([
    ['a lost connection', Object.assign(new Error('x'), { code: 'ECONNREFUSED' })],
    ['a database that shuts down', Object.assign(new Error('x'), { driverError: { code: '57P01' } })],
    ['a failover to a server that only reads', Object.assign(new Error('x'), { driverError: { code: '25006' } })],
    ['a server that does not know us any more', Object.assign(new Error('x'), { code: '28P01' })],
    ['a statement that took too long', Object.assign(new Error('x'), { driverError: { code: '57014' } })],
  ])('asks to come back after %s', (_, error) => {
    expect(verdictOf(error)).toMatchObject({ status: 503, code: 'database-unavailable', retryAfter: 2 });
  });

  it('passes on how long to wait', () => {
    expect(verdictOf(new AppError('overloaded', 'x', { retryAfter: 7 }))).toMatchObject({ status: 503, retryAfter: 7 });
  });

  it('says 413 of a document that its topic does not take', () => {
    expect(verdictOf(new NonRetriableError('message-too-large', 'x'))).toMatchObject({ status: 413 });
  });

  it.each([
    [new RegistryUnavailable('No answer.'), 'registry-unavailable', 5],
    [new AppError('schema-unpublished', 'x'), 'schema-unpublished', 2],
    [new AppError('registry-unconfigured', 'x'), 'registry-unconfigured', 2],
    [new NonRetriableError('registry-refused', 'x'), 'registry-refused', 2],
  ])('asks to come back after %s', (error, code, retryAfter) => {
    expect(verdictOf(error)).toMatchObject({ status: 503, code, retryAfter });
  });

  it.each([
    [new HttpException('Not found', 404), 'not-found'],
    [new HttpException('x', 413), 'body-too-large'],
    [new HttpException('x', 418), 'request-malformed'],
    [Object.assign(new SyntaxError('Unexpected token'), { statusCode: 400 }), 'malformed-json'],
  ])('names what the framework refuses: %s', (error, code) => {
    expect(verdictOf(error).code).toBe(code);
  });

  it('has a status, a title and help for every code', () => {
    for (const [code, { status, title, help }] of Object.entries(PROBLEM_CODES)) {
      expect(code).toMatch(/^[a-z]+(-[a-z]+)*$/);
      expect(status).toBeGreaterThanOrEqual(400);
      expect(title.length * help.length).toBeGreaterThan(0);
    }
  });
});
