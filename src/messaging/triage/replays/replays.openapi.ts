import { applyDecorators } from '@nestjs/common';
import {
  ApiAcceptedResponse,
  ApiCreatedResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiQuery,
} from '@nestjs/swagger';
import { ApiProblems } from '../../../platform/http';
import { ReplayDto, ReplayItemPageDto, ReplayPageDto } from './replay.dto';

// How the operations of replays.controller.ts are described.

const DOWN = ['internal', 'database-unavailable'];
const BODY = ['malformed-json', 'request-invalid', 'body-too-large', 'content-type-unsupported'];
const ID = '0d9d5c0e-6f0b-4f6e-9a53-0a4f6a3f7c11';
const ReplayId = ApiParam({ name: 'id', example: ID });
const Location = { schema: { type: 'string' as const }, example: `/v1/replays/${ID}` };
const Link = {
  schema: { type: 'string' as const },
  example: '</v1/replays?limit=50&cursor=WyIyMDI2>; rel="next"',
  description: 'Absent on the last page',
};

export const CreateReplay = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      operationId: 'createReplay',
      summary: 'Plan a replay of dead letters, or start a plan',
      description:
        'With `plan=true` and a selection: freezes the set and says what would happen; nothing is sent (role support). Without, with `planId` and `reason`: starts that plan (role operator; support for a plan of one message). Never more is sent than the plan said; a plan started twice is one replay.',
    }),
    ApiQuery({ name: 'plan', required: false, example: 'true' }),
    ApiCreatedResponse({ type: ReplayDto, description: 'The plan', headers: { Location } }),
    ApiAcceptedResponse({ type: ReplayDto, description: 'The replay runs', headers: { Location } }),
    ApiProblems(...BODY, 'replay-unknown', 'plan-changed', 'replay-state', ...DOWN),
  );

export const ListReplays = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({ operationId: 'listReplays', summary: 'List plans and replays, newest first' }),
    ApiOkResponse({ type: ReplayPageDto, headers: { Link } }),
    ApiProblems('request-invalid', 'cursor-invalid', ...DOWN),
  );

export const GetReplay = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({ operationId: 'getReplay', summary: 'Show where a replay stands' }),
    ReplayId,
    ApiOkResponse({ type: ReplayDto }),
    ApiProblems('replay-unknown', ...DOWN),
  );

export const ListReplayItems = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({ operationId: 'listReplayItems', summary: 'List what became of the messages of a replay' }),
    ReplayId,
    ApiOkResponse({ type: ReplayItemPageDto, headers: { Link } }),
    ApiProblems('request-invalid', 'cursor-invalid', 'replay-unknown', ...DOWN),
  );

const change = (operationId: string, summary: string, description: string): MethodDecorator =>
  applyDecorators(
    ApiOperation({ operationId, summary, description }),
    ReplayId,
    ApiOkResponse({ type: ReplayDto }),
    ApiProblems(...BODY, 'replay-unknown', 'replay-state', ...DOWN),
  );

export const PauseReplay = () =>
  change('pauseReplay', 'Pause a replay', 'Nothing more is sent until it is resumed; what was sent goes on.');

export const ResumeReplay = () =>
  change('resumeReplay', 'Resume a paused replay', 'At its pace: nothing is caught up.');

export const CancelReplay = () =>
  change(
    'cancelReplay',
    'Cancel a replay or a plan',
    'What was not sent is skipped; what was sent goes on. Support cancels plans of its own; all else takes the role operator.',
  );
