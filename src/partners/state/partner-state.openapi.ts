import { applyDecorators } from '@nestjs/common';
import { ApiHeader, ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import { ApiProblems } from '../../platform/http';
import { PartnerStateDto } from './partner-state.dto';

// How the operations of partner-state.controller.ts are described.

const PROBLEMS = [
  ...['malformed-json', 'request-invalid', 'body-too-large', 'content-type-unsupported'],
  ...['partner-not-found', 'partner-state', 'version-stale', 'internal', 'database-unavailable'],
];

const operation = (operationId: string, summary: string, description: string): MethodDecorator =>
  applyDecorators(
    ApiOperation({ operationId, summary, description }),
    ApiParam({ name: 'id', example: 'acme' }),
    ApiHeader({
      name: 'If-Match',
      required: false,
      description: 'ETag of what you looked at; left out, only the state decides whether it is possible',
      example: '"3"',
    }),
    ApiOkResponse({ type: PartnerStateDto, headers: { ETag: { schema: { type: 'string' }, example: '"4"' } } }),
    ApiProblems(...PROBLEMS),
  );

export const PausePartner = (): MethodDecorator =>
  operation(
    'pausePartner',
    'Send a partner nothing for now; what it sends is applied as before',
    'Orders are accepted and wait, as do our answers, in order; no deadline passes meanwhile. The relay stops within seconds. A suspended partner must be resumed first.',
  );

export const SuspendPartner = (): MethodDecorator =>
  operation(
    'suspendPartner',
    'Send a partner nothing, and keep what it sends without applying it',
    'When this is answered, no message of the partner is applied any more; each is stored in its order, so that nothing is lost. The relay stops within seconds. No deadline passes meanwhile.',
  );

export const ResumePartner = (): MethodDecorator =>
  operation(
    'resumePartner',
    'Serve a paused or suspended partner again',
    'What waits for it is sent, and what it sent meanwhile is applied, both in their order. Deadlines that would have passed meanwhile are later by the time of the stop.',
  );
