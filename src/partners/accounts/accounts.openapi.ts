import { applyDecorators } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import { ApiProblems } from '../../platform/http';
import { AccountDto } from './account.dto';

// How the operations of accounts.controller.ts are described.

const PROBLEMS = [
  ...['malformed-json', 'request-invalid', 'body-too-large', 'content-type-unsupported'],
  ...['partner-not-found', 'account-unknown', 'partner-busy'],
  ...['accounts-unavailable', 'admin-account-missing', 'broker-unreachable', 'internal', 'database-unavailable'],
];

const change = (operationId: string, summary: string, description: string, problem: string): MethodDecorator =>
  applyDecorators(
    ApiOperation({ operationId, summary, description }),
    ApiParam({ name: 'id', example: 'acme' }),
    ApiParam({
      name: 'account',
      description: 'Its `username`; of a certificate the whole subject, percent-encoded',
      example: 'acme.1',
    }),
    ApiOkResponse({ type: AccountDto }),
    ApiProblems(...PROBLEMS, problem),
  );

export const DisableAccount = (): MethodDecorator =>
  change(
    'disableAccount',
    'Take away all that an account may do, until it is enabled again',
    'For an account that was stolen, or to see whether anybody still needs it. Every further request is refused, also on connections that are open; nothing is deleted. Also the account that new clients get can be disabled. Again, nothing happens.',
    'account-retired',
  );

export const EnableAccount = (): MethodDecorator =>
  change(
    'enableAccount',
    'Give a disabled account its rights back',
    'As they were. One that was not disabled by Parley stays as it is, also where others deny it something.',
    'account-retired',
  );

export const RetireAccount = (): MethodDecorator =>
  change(
    'retireAccount',
    'End an account that was replaced for good, before its date',
    'Its rights, limits and user go at once; connections that are open are refused each request. Not the account that new clients get: disable that and rotate first. A retired account stays so.',
    'account-in-use',
  );
