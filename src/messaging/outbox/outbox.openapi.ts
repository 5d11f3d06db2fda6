import { applyDecorators } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import { ApiProblems } from '../../platform/http';
import { OutboxStatusDto, ParkedOutboundDto, ParkedOutboundPageDto } from './outbox.dto';

// How the operations of outbox.controller.ts are described.

const DOWN = ['internal', 'database-unavailable'];
const BODY = ['malformed-json', 'request-invalid', 'body-too-large', 'content-type-unsupported'];
const Seq = ApiParam({ name: 'seq', description: 'As listed', example: '48211' });

export const GetOutbox = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      operationId: 'getOutbox',
      summary: 'Show where sending stands: who sends, what waits, which lanes fail or are parked, and why',
      description:
        'A lane is one partition of a topic. What the owner says of itself is a few seconds old. A key that is confined to partners sees their lanes; `owner` and `pending` are of all.',
    }),
    ApiOkResponse({ type: OutboxStatusDto }),
    ApiProblems(...DOWN),
  );

export const ListParkedOutbound = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      operationId: 'listParkedOutbound',
      summary:
        'List outbound messages that wait for a parked lane, are refused by the broker, or stand behind one that is',
    }),
    ApiOkResponse({
      type: ParkedOutboundPageDto,
      headers: {
        Link: {
          schema: { type: 'string' },
          example: '</v1/outbox/parked?limit=50&cursor=WyI0ODIxMSJd>; rel="next"',
          description: 'Absent on the last page',
        },
      },
    }),
    ApiProblems('request-invalid', 'cursor-invalid', ...DOWN),
  );

export const RetryLane = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      operationId: 'retryOutboxLane',
      summary: 'Have a parked lane tried now',
      description: 'The relay tries it within a second; its messages go out in order, or it says anew why not.',
    }),
    ApiParam({ name: 'topic', example: 'orders.acme.request.v1' }),
    ApiParam({ name: 'partition', example: '3' }),
    ApiAcceptedResponse({ description: 'It is due' }),
    ApiProblems(...BODY, 'lane-not-parked', 'lane-paused', 'lane-suspended', ...DOWN),
  );

export const RetryOutbound = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      operationId: 'retryOutboundMessage',
      summary: 'Send an outbound dead letter again, as it is and under its id',
      description:
        'It carries `parley-replay-id`, `parley-replay-by` and `parley-replay-attempt`; what stands behind it follows. Refused again, it is a dead letter again.',
    }),
    Seq,
    ApiAcceptedResponse({ type: ParkedOutboundDto }),
    ApiProblems(...BODY, 'outbound-unknown', 'outbound-not-dead', ...DOWN),
  );

export const DiscardOutbound = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      operationId: 'discardOutboundMessage',
      summary: 'Give up an outbound dead letter: it is never sent, and what stands behind it follows',
    }),
    Seq,
    ApiOkResponse({ type: ParkedOutboundDto }),
    ApiProblems(...BODY, 'outbound-unknown', 'outbound-not-dead', ...DOWN),
  );
