import {
  ApiAcceptedResponse,
  ApiCreatedResponse,
  ApiHeader,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiParam,
} from '@nestjs/swagger';
import { BODY_PROBLEMS, ETAG, IfMatch, LINK, LOCATION, NO_STORE, operation, STALE } from '../../platform/http';
import { PutReceiverDto, ReceiverDto, ReceiverPageDto, ReceiverTestDto, RotatedSecretDto } from './receiver.dto';

// How the operations on receivers are described.

const PATH = '/v1/notification-receivers';
const Id = ApiParam({ name: 'id', example: 'ops-desk' });
const Shown = ApiOkResponse({ type: ReceiverDto, headers: ETAG });

export const ListReceivers = (): MethodDecorator =>
  operation(
    'listNotificationReceivers',
    'List who is told what happens, by id',
    ['request-invalid', 'cursor-invalid'],
    ApiOkResponse({ type: ReceiverPageDto, headers: LINK(PATH) }),
  );

export const GetReceiver = (): MethodDecorator =>
  operation('getNotificationReceiver', 'Show a receiver, its addresses masked', ['receiver-unknown'], ...[Id, Shown]);

const precondition = (name: string, description: string, example: string) =>
  ApiHeader({ name, required: false, description, example });

export const PutReceiver = (): MethodDecorator =>
  operation(
    'putNotificationReceiver',
    'Make a receiver, or make it what the body says; the secret of a new webhook is told once',
    [...BODY_PROBLEMS, 'receivers-not-allowed', 'receiver-unknown', 'receiver-invalid', ...STALE],
    Id,
    precondition('If-Match', 'ETag of what you looked at; required to replace one', '"3"'),
    precondition('If-None-Match', '*: only make it, replace nothing', '*'),
    ApiCreatedResponse({ type: PutReceiverDto, headers: { ...ETAG, ...LOCATION(`${PATH}/ops-desk`), ...NO_STORE } }),
    ApiOkResponse({ type: PutReceiverDto, headers: { ...ETAG, ...NO_STORE } }),
  );

export const DeleteReceiver = (): MethodDecorator =>
  operation(
    'deleteNotificationReceiver',
    'Delete a receiver; what waits for it is cancelled',
    ['receiver-unknown', ...STALE],
    ...[Id, IfMatch, ApiNoContentResponse({ description: 'It is deleted' })],
  );

export const RotateWebhookSecret = (): MethodDecorator =>
  operation(
    'rotateWebhookSecret',
    'Make another secret for a webhook, which is told once; the one before it signs beside it for a while',
    [...BODY_PROBLEMS, 'receiver-unknown', 'webhook-absent', 'webhook-secrets-full', 'webhooks-unconfigured'],
    ...[Id, ApiOkResponse({ type: RotatedSecretDto, headers: NO_STORE })],
  );

export const EnableWebhook = (): MethodDecorator =>
  operation(
    'enableWebhook',
    'Send to a webhook again that was disabled because it failed',
    [...BODY_PROBLEMS, 'receiver-unknown', 'webhook-absent', 'webhook-not-disabled'],
    ...[Id, Shown],
  );

export const TestReceiver = (): MethodDecorator =>
  operation(
    'testNotificationReceiver',
    'Send a test message to each address of a receiver',
    ['idempotency-key-missing', 'receiver-unknown', 'receiver-unreachable'],
    Id,
    ApiHeader({
      name: 'Idempotency-Key',
      required: true,
      description: '1 to 255 visible ASCII characters; the same again sends nothing again',
      example: '0d9d5c0e-6f0b-4f6e-9a53-0a4f6a3f7c11',
    }),
    ApiAcceptedResponse({ type: ReceiverTestDto }),
  );

export const UnmaskReceiver = (): MethodDecorator =>
  operation(
    'unmaskNotificationReceiver',
    'Show a receiver with its addresses, for a reason that the audit keeps',
    [...BODY_PROBLEMS, 'receiver-unknown'],
    ...[Id, ApiOkResponse({ type: ReceiverDto, headers: { ...ETAG, ...NO_STORE } })],
  );
