import { applyDecorators } from '@nestjs/common';
import {
  ApiAcceptedResponse,
  ApiCreatedResponse,
  ApiHeader,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiResponse,
} from '@nestjs/swagger';
import { ApiProblems } from '../platform/http';
import { CancellationRequestedDto } from './cancellation.dto';
import { ExchangeListDto, ExchangeDto } from './exchange.dto';
import { OrderDto, OrderPageDto } from './order.dto';
import { TimelineDto } from './timeline.dto';

// How the operations of orders.controller.ts are described.

const DOWN = ['internal', 'database-unavailable'];
/** The document can't be made into bytes now. */
const NO_SCHEMA = ['registry-unavailable', 'registry-refused', 'schema-unpublished', 'registry-unconfigured'];
const text = (example: string, description?: string) => ({
  schema: { type: 'string' as const },
  example,
  ...(description ? { description } : {}),
});
const OrderNumber = ApiParam({
  name: 'orderNumber',
  description: 'As given when the order was placed',
  example: '4500017',
});

const IdempotencyKey = ApiHeader({
  name: 'Idempotency-Key',
  required: true,
  description: '1 to 255 visible ASCII characters, the same for every repeat of one request',
  example: '0d9d5c0e-6f0b-4f6e-9a53-0a4f6a3f7c11',
});

export const PlaceOrder = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      operationId: 'placeOrder',
      summary: 'Place an order with a partner',
      description:
        'Accepted means durable: the order reaches the partner even if Parley or Kafka is down now. The same Idempotency-Key with the same body answers with the first answer again, for 24 hours unless set otherwise (IDEMPOTENCY_RETENTION_HOURS).',
    }),
    IdempotencyKey,
    ApiCreatedResponse({ type: OrderDto, headers: { Location: text('/v1/orders/4500017'), ETag: text('"1"') } }),
    ApiProblems(
      ...['malformed-json', 'request-invalid', 'idempotency-key-missing'],
      ...['idempotency-key-in-progress', 'order-number-taken', 'body-too-large', 'content-type-unsupported'],
      ...['idempotency-key-reused', 'order-invalid', 'partner-unknown', 'channel-unknown', 'message-too-large'],
      ...['partner-not-allowed', ...DOWN, ...NO_SCHEMA, 'overloaded'],
    ),
  );

export const CancelOrder = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      operationId: 'cancelOrder',
      summary: 'Ask the partner to cancel an order',
      description:
        "Accepted means durable: the partner will be asked, and its answer is what both sides go by. The order shows it in `cancellation`, its timeline step by step. After a refusal it may be asked again. Who has despatched any of an order refuses; an order of which a despatch is known here can't be cancelled.",
    }),
    OrderNumber,
    IdempotencyKey,
    ApiAcceptedResponse({ type: CancellationRequestedDto, headers: { Location: text('/v1/orders/4500017') } }),
    ApiProblems(
      ...['malformed-json', 'request-invalid', 'idempotency-key-missing', 'order-unknown'],
      ...['idempotency-key-in-progress', 'order-not-cancellable', 'cancellation-pending'],
      ...['body-too-large', 'content-type-unsupported', 'idempotency-key-reused', 'channel-unknown'],
      ...['document-invalid', 'message-too-large', ...DOWN, ...NO_SCHEMA],
    ),
  );

export const ListOrders = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({ operationId: 'listOrders', summary: 'List orders, newest first' }),
    ApiOkResponse({
      type: OrderPageDto,
      headers: { Link: text('</v1/orders?limit=50&cursor=WyIyMDI2>; rel="next"', 'Absent on the last page') },
    }),
    ApiProblems('request-invalid', 'cursor-invalid', ...DOWN),
  );

export const GetOrder = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({ operationId: 'getOrder', summary: 'Show where an order stands' }),
    OrderNumber,
    ApiHeader({ name: 'If-None-Match', required: false, description: 'ETag that the caller has', example: '"1"' }),
    ApiOkResponse({ type: OrderDto, headers: { ETag: text('"1"') } }),
    ApiResponse({ status: 304, description: 'Unchanged since the ETag' }),
    ApiProblems('order-unknown', ...DOWN),
  );

export const UnmaskOrder = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      operationId: 'unmaskOrder',
      summary: 'Show an order with its personal data, for a reason that the audit keeps',
    }),
    OrderNumber,
    ApiOkResponse({ type: OrderDto, headers: { ETag: text('"1"'), 'Cache-Control': text('no-store') } }),
    ApiProblems(
      ...['malformed-json', 'request-invalid', 'order-unknown', 'body-too-large', 'content-type-unsupported'],
      ...DOWN,
    ),
  );

export const GetOrderTimeline = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({ operationId: 'getOrderTimeline', summary: 'Tell what happened to an order, step by step' }),
    OrderNumber,
    ApiOkResponse({ type: TimelineDto }),
    ApiProblems('order-unknown', ...DOWN),
  );

export const ListOrderExchanges = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      operationId: 'listOrderExchanges',
      summary: "List an order's requests and what came back",
      description:
        'State, deadline and places in Kafka of every request to the partner about this order, and of what the partner asked.',
    }),
    OrderNumber,
    ApiOkResponse({ type: ExchangeListDto }),
    ApiProblems('order-unknown', ...DOWN),
  );

export const WithdrawExchange = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      operationId: 'withdrawExchange',
      summary: 'Stop waiting for an answer',
      description:
        "Ends the deadline of a request that is still open: nothing is sent again, and it is overdue no longer. The partner is not told, so an answer that comes all the same is applied where the order's state allows it. The same request again changes nothing and has the same answer.",
    }),
    OrderNumber,
    ApiParam({
      name: 'correlationId',
      description: 'Of the exchange',
      example: '7f0f3c1e-50f5-4a3e-8f0e-1b6a0d9c2e44',
    }),
    ApiOkResponse({ type: ExchangeDto }),
    ApiProblems(
      ...['malformed-json', 'request-invalid', 'order-unknown', 'exchange-unknown', 'exchange-ended'],
      ...['body-too-large', 'content-type-unsupported', ...DOWN],
    ),
  );
