import { applyDecorators } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import { ApiProblems } from '../../platform/http';
import { RotatedAccountDto } from './account.dto';

// How the operation of rotation.controller.ts is described.

export const RotateAccount = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      operationId: 'rotateAccount',
      summary: 'Make another account for a partner beside the one that it has',
      description:
        'With the same rights and limits; both work until the old one ends. With `plan=true` nothing is done: the answer says what would be made. The answer shows the password, once: it is kept nowhere, so a repeat cannot show it again (there is no Idempotency-Key here). Where the answer was not sent to its end, the same request makes a new password for the same account; where it was sent and got lost, replace the new account.',
    }),
    ApiParam({ name: 'id', example: 'acme' }),
    ApiOkResponse({
      type: RotatedAccountDto,
      headers: { 'Cache-Control': { schema: { type: 'string' }, example: 'no-store' } },
    }),
    ApiProblems(
      ...['malformed-json', 'request-invalid', 'body-too-large', 'content-type-unsupported'],
      ...['partner-not-found', 'partner-not-onboarded', 'partner-busy', 'account-replaced', 'accounts-too-many'],
      ...['account-exists', 'account-foreign', 'subject-missing', 'subject-unfit'],
      ...['accounts-unavailable', 'admin-account-missing', 'broker-unreachable', 'internal', 'database-unavailable'],
    ),
  );
