import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import { ApiProblems } from '../../platform/http';
import { OnboardingDto } from './onboarding.dto';
import { PARTNER_FILE_SCHEMA } from './partner-spec';

// How the operation of onboarding.controller.ts is described.

/** OpenAPI's schemas name no dialect; and whose file it is, the path says. */
const { $schema: _, required: __, ...BODY } = PARTNER_FILE_SCHEMA;

export const PutPartner = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      operationId: 'putPartner',
      summary: 'Make a partner what its file says',
      description:
        "Topics, account, rights, limits, schemas and channels. With `plan=true` nothing is done: the answer says what would be. The same request again changes nothing; after a failure it goes on where it stopped. The password of a new account is in the answer once: it is kept nowhere. Where the answer was not sent to its end, the same request makes a new one; where it was sent and got lost, rotate the account. Needs the account of the broker's administrator.",
    }),
    ApiParam({ name: 'id', example: 'acme' }),
    ApiBody({ schema: BODY }),
    ApiOkResponse({
      type: OnboardingDto,
      headers: { 'Cache-Control': { schema: { type: 'string' }, example: 'no-store' } },
    }),
    ApiProblems(
      ...['malformed-json', 'request-invalid', 'body-too-large', 'content-type-unsupported'],
      ...['partner-not-allowed', 'partner-spec-invalid', 'partner-busy', 'partner-plan-changed'],
      ...['channel-differs', 'partition-count-differs', 'account-foreign', 'schema-breaks', 'schema-unregistered'],
      ...['admin-account-missing', 'broker-unreachable', 'broker-behind', 'authentication-failed', 'not-authorized'],
      ...['broker-refused', 'registry-unavailable', 'registry-refused', 'internal', 'database-unavailable'],
    ),
  );
