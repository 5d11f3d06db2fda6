import { applyDecorators } from '@nestjs/common';
import { ApiCreatedResponse, ApiHeader, ApiOkResponse, ApiOperation, ApiParam, ApiResponse } from '@nestjs/swagger';
import { ApiProblems } from '../platform/http';
import { OrderDto, OrderPageDto } from './order.dto';
import { TimelineDto } from './timeline.dto';

// How the operations of orders.controller.ts are described.

const DOWN = ['internal', 'database-unavailable'];
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

export const PlaceOrder = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      operationId: 'placeOrder',
      summary: 'Place an order with a partner',
      description:
        'Accepted means durable: the order reaches the partner even if Parley or Kafka is down now. The same Idempotency-Key with the same body answers with the first answer again, for 24 hours unless set otherwise (IDEMPOTENCY_RETENTION_HOURS).',
    }),
    ApiHeader({
      name: 'Idempotency-Key',
      required: true,
      description: '1 to 255 visible ASCII characters, the same for every repeat of one request',
      example: '0d9d5c0e-6f0b-4f6e-9a53-0a4f6a3f7c11',
    }),
    ApiCreatedResponse({ type: OrderDto, headers: { Location: text('/v1/orders/4500017'), ETag: text('"1"') } }),
    ApiProblems(
      ...['malformed-json', 'request-invalid', 'idempotency-key-missing'],
      ...['idempotency-key-in-progress', 'order-number-taken', 'body-too-large', 'content-type-unsupported'],
      ...['idempotency-key-reused', 'order-invalid', 'partner-unknown', 'channel-unknown', 'message-too-large'],
      ...[...DOWN, 'overloaded'],
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

export const GetOrderTimeline = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({ operationId: 'getOrderTimeline', summary: 'Tell what happened to an order, step by step' }),
    OrderNumber,
    ApiOkResponse({ type: TimelineDto }),
    ApiProblems('order-unknown', ...DOWN),
  );
