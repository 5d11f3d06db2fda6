import {
  ApiAcceptedResponse,
  ApiCreatedResponse,
  ApiOkResponse,
  ApiParam,
  ApiProduces,
  ApiResponse,
} from '@nestjs/swagger';
import { DeadLetterPageDto } from './dead-letter.dto';
import { ReplayStartedDto } from './dead-letters.dto';
import { DeadLetterViewDto } from './letter-view.dto';
import {
  BODY_PROBLEMS,
  ETAG,
  IdParam,
  IfMatch,
  IfNoneMatch,
  LINK,
  LOCATION,
  NO_STORE,
  operation,
  STALE,
} from './openapi';

// How the operations on dead letters are described.

const EditId = ApiParam({ name: 'editId', description: 'As shown', example: '17' });
const VALUE = [
  ApiProduces('application/octet-stream'),
  ApiOkResponse({ schema: { type: 'string', format: 'binary' } }),
  ApiResponse({ status: 204, description: 'The record has no value' }),
];
const Shown = ApiOkResponse({ type: DeadLetterViewDto, headers: ETAG });

export const ListDeadLetters = (): MethodDecorator =>
  operation(
    'listDeadLetters',
    'List messages that no retry can heal, newest first',
    ['request-invalid', 'cursor-invalid'],
    ApiOkResponse({ type: DeadLetterPageDto, headers: LINK('/v1/dead-letters') }),
  );

export const GetDeadLetter = (): MethodDecorator =>
  operation(
    'getDeadLetter',
    'Show a message that failed, whatever became of it',
    ['parked-unknown'],
    ...[IdParam, IfNoneMatch, Shown, ApiResponse({ status: 304, description: 'Unchanged since the ETag' })],
  );

export const GetDeadLetterValue = (): MethodDecorator =>
  operation(
    'getDeadLetterValue',
    'Get the value of the record, byte for byte, where it holds no personal data',
    ['parked-unknown', 'content-masked', 'content-secret'],
    ...[IdParam, ...VALUE],
  );

export const UnmaskDeadLetter = (): MethodDecorator =>
  operation(
    'unmaskDeadLetter',
    'Show a message with its personal data, for a reason that the audit keeps',
    [...BODY_PROBLEMS, 'parked-unknown', 'content-secret'],
    ...[IdParam, ApiOkResponse({ type: DeadLetterViewDto, headers: { ...ETAG, ...NO_STORE } })],
  );

export const UnmaskDeadLetterValue = (): MethodDecorator =>
  operation(
    'unmaskDeadLetterValue',
    'Get the value of the record, byte for byte, for a reason that the audit keeps',
    [...BODY_PROBLEMS, 'parked-unknown', 'content-secret'],
    ...[IdParam, ...VALUE],
  );

export const EditDeadLetter = (): MethodDecorator =>
  operation(
    'editDeadLetter',
    'Have a mended document applied in place of the record',
    [...BODY_PROBLEMS, 'parked-unknown', 'parked-not-dead', 'edit-impossible', 'edit-invalid', ...STALE],
    ...[IdParam, IfMatch, ApiCreatedResponse({ type: DeadLetterViewDto, headers: ETAG })],
  );

const decided = (operationId: string, summary: string): MethodDecorator =>
  operation(
    operationId,
    summary,
    [...BODY_PROBLEMS, 'parked-unknown', 'edit-unknown', 'edit-decided', 'edit-own'],
    ...[IdParam, EditId, Shown],
  );

export const ApproveEdit = (): MethodDecorator => decided('approveDeadLetterEdit', 'Agree to an edit of somebody else');
export const RefuseEdit = (): MethodDecorator => decided('refuseDeadLetterEdit', 'Refuse an edit of somebody else');

export const ReplayDeadLetter = (): MethodDecorator =>
  operation(
    'replayDeadLetter',
    'Have one message processed again, as a replay of its own',
    [...BODY_PROBLEMS, 'parked-unknown', 'parked-not-dead', 'edit-pending', 'replay-behind'],
    IdParam,
    ApiAcceptedResponse({
      type: ReplayStartedDto,
      headers: LOCATION('/v1/replays/0d9d5c0e-6f0b-4f6e-9a53-0a4f6a3f7c11'),
    }),
  );

export const DiscardDeadLetter = (): MethodDecorator =>
  operation(
    'discardDeadLetter',
    'Give a message up; what waits behind it follows',
    [...BODY_PROBLEMS, 'parked-unknown', 'parked-not-dead', ...STALE],
    ...[IdParam, IfMatch, Shown],
  );

export const RestoreDeadLetter = (): MethodDecorator =>
  operation(
    'restoreDeadLetter',
    'Make a discarded message a dead letter again',
    [...BODY_PROBLEMS, 'parked-unknown', 'parked-not-discarded', ...STALE],
    ...[IdParam, IfMatch, Shown],
  );
