import { exitCodeOf } from '../../../src/cli/exit-code';
import { AppError } from '../../../src/platform/errors';

it.each([
  ['unauthenticated', 5],
  ['forbidden', 5],
  ['edit-own', 5],
  ['receivers-not-allowed', 5],
  ['notification-provider-shared', 5],
  ['plan-changed', 4],
  ['version-stale', 4],
  ['api-unreachable', 1],
  ['not-confirmed', 1],
])('%s ends a command with %s', (code, exit) => {
  expect(exitCodeOf(new AppError(code, 'x'))).toBe(exit);
});

it('what nobody foresaw ends with 1', () => {
  expect(exitCodeOf(new TypeError('x'))).toBe(1);
});

it.each([
  ['by the driver', { code: '42501' }],
  ['by TypeORM', { driverError: { code: '42501' }, code: 'OTHER' }],
])("PostgreSQL's rights, told %s, end it with 5", (_, told) => {
  expect(exitCodeOf(Object.assign(new Error('permission denied'), told))).toBe(5);
});
