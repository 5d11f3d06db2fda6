import { applyDecorators } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import { ApiProblems } from '../../platform/http';
import { PartnerDto, PartnerPageDto } from './partner.dto';

// How the operations of partners.controller.ts are described.

const header = (example: string, description: string) => ({
  schema: { type: 'string' as const },
  example,
  description,
});

export const ListPartners = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      operationId: 'listPartners',
      summary: 'List partners by id, with the accounts that open the broker',
      description: 'A key that is confined to some partners sees these.',
    }),
    ApiOkResponse({
      type: PartnerPageDto,
      headers: { Link: header('</v1/partners?limit=50&cursor=WyJhY21lIl0>; rel="next"', 'Absent on the last page') },
    }),
    ApiProblems('request-invalid', 'cursor-invalid', 'internal', 'database-unavailable'),
  );

export const GetPartner = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      operationId: 'getPartner',
      summary: 'Show a partner: its state, channels, accounts, limits and certification',
      description: 'Retired accounts are shown, too. The ETag is the version of its state, for If-Match of a change.',
    }),
    ApiParam({ name: 'id', example: 'acme' }),
    ApiOkResponse({ type: PartnerDto, headers: { ETag: header('"3"', 'Grows with each change of its state') } }),
    ApiProblems('partner-not-found', 'internal', 'database-unavailable'),
  );
