import { applyDecorators } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import { ApiProblems } from '../platform/http';
import { ApiKeyDto, ApiKeyPageDto, AuditPageDto, CreatedApiKeyDto } from './staff.dto';

// How the operations of api-keys.controller.ts and audit.controller.ts are described.

const DOWN = ['internal', 'database-unavailable'];
const BODY = ['malformed-json', 'request-invalid', 'body-too-large', 'content-type-unsupported'];
const Id = ApiParam({ name: 'id', description: 'Public part of the key', example: 'key_9f86d081884c' });
const header = (example: string, description?: string) => ({
  schema: { type: 'string' as const },
  example,
  ...(description ? { description } : {}),
});
const next = (example: string) => ({ Link: header(example, 'Absent on the last page') });

export const ListApiKeys = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      operationId: 'listApiKeys',
      summary: 'List API keys, newest first',
      description:
        'Expired and revoked ones too. A key that is confined to some partners sees keys that are confined to some of these.',
    }),
    ApiOkResponse({ type: ApiKeyPageDto, headers: next('</v1/api-keys?limit=50&cursor=WyIyMDI2>; rel="next"') }),
    ApiProblems('request-invalid', 'cursor-invalid', ...DOWN),
  );

export const GetApiKey = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({ operationId: 'getApiKey', summary: 'Show an API key, without its secret' }),
    Id,
    ApiOkResponse({ type: ApiKeyDto }),
    ApiProblems('api-key-unknown', ...DOWN),
  );

export const CreateApiKey = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      operationId: 'createApiKey',
      summary: 'Make an API key',
      description:
        'The answer shows the token, once: only its hash is kept, so a repeat cannot show it again and makes another key (there is no Idempotency-Key here). Where the answer got lost, list the keys and revoke the one that nobody has.',
    }),
    ApiCreatedResponse({ type: CreatedApiKeyDto, headers: { Location: header('/v1/api-keys/key_9f86d081884c') } }),
    ApiProblems(...BODY, 'api-key-exceeds-caller', ...DOWN),
  );

export const RevokeApiKey = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      operationId: 'revokeApiKey',
      summary: 'Revoke an API key for good',
      description: 'Takes effect in every process within 5 seconds. Revoking a revoked key changes nothing.',
    }),
    Id,
    ApiOkResponse({ type: ApiKeyDto }),
    ApiProblems(...BODY, 'api-key-unknown', ...DOWN),
  );

export const ListAuditEntries = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      operationId: 'listAuditEntries',
      summary: 'List what staff did, newest first',
      description:
        'Entries are never changed or deleted. A key that is confined to some partners reads what concerns these.',
    }),
    ApiOkResponse({ type: AuditPageDto, headers: next('</v1/audit?limit=50&cursor=WyI0NzExIl0>; rel="next"') }),
    ApiProblems('request-invalid', 'cursor-invalid', ...DOWN),
  );
