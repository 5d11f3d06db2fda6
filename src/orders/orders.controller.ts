import { Body, Controller, Get, Headers, HttpCode, Inject, Param, Post, Query, Req, Res } from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiHeader,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiResponse,
  ApiTags,
} from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ORDER_NUMBER_PATTERN } from '../contracts';
import { CLOCK, type Clock } from '../platform/clock';
import { NonRetriableError } from '../platform/errors';
import { ApiProblems, childTraceparent } from '../platform/http';
import type { Order } from './domain/order';
import { ListOrdersDto, OrderDto, OrderPageDto, PlaceOrderDto } from './order.dto';
import { OrderList } from './order-list';
import { OrderService } from './order.service';

/** Until staff identity exists everybody is one caller. */
const CALLER = 'anonymous';
const KEY = /^[\x21-\x7e]{1,255}$/;
const NUMBER = new RegExp(ORDER_NUMBER_PATTERN);
const DOWN = ['internal', 'database-unavailable'];

const etagOf = (order: Order): string => `"${order.version}"`;
const pathOf = (orderNumber: string): string => `/v1/orders/${encodeURIComponent(orderNumber)}`;

@ApiTags('orders')
@Controller('v1/orders')
export class OrdersController {
  constructor(
    private readonly service: OrderService,
    private readonly list: OrderList,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Post()
  @HttpCode(201)
  @ApiOperation({
    operationId: 'placeOrder',
    summary: 'Place an order with a partner',
    description:
      'Accepted means durable: the order reaches the partner even if Parley or Kafka is down now. The same Idempotency-Key with the same body answers with the first answer again, for 24 hours unless set otherwise.',
  })
  @ApiHeader({
    name: 'Idempotency-Key',
    required: true,
    description: '1 to 255 visible ASCII characters, the same for every repeat of one request',
    example: '0d9d5c0e-6f0b-4f6e-9a53-0a4f6a3f7c11',
  })
  @ApiCreatedResponse({
    type: OrderDto,
    headers: {
      Location: { schema: { type: 'string' }, example: '/v1/orders/4500017' },
      ETag: { schema: { type: 'string' }, example: '"1"' },
    },
  })
  @ApiProblems(
    'malformed-json',
    'request-invalid',
    'idempotency-key-missing',
    'idempotency-key-in-progress',
    'order-number-taken',
    'body-too-large',
    'content-type-unsupported',
    'idempotency-key-reused',
    'order-invalid',
    'partner-unknown',
    'channel-unknown',
    'message-too-large',
    ...DOWN,
    'overloaded',
  )
  async place(
    @Headers('idempotency-key') key: string | undefined,
    @Body() body: PlaceOrderDto,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<OrderDto> {
    if (key === undefined || !KEY.test(key)) {
      throw new NonRetriableError(
        'idempotency-key-missing',
        'The header Idempotency-Key is missing or not 1 to 255 visible ASCII characters.',
        {
          violations: [{ pointer: 'Idempotency-Key', detail: 'must be 1 to 255 visible ASCII characters' }],
        },
      );
    }
    const { orderNumber, partner, currency, lines } = body;
    const order = await this.service.place({
      caller: CALLER,
      idempotencyKey: key,
      orderNumber,
      partner,
      currency,
      lines,
      traceparent: childTraceparent(request.headers, request.id),
    });
    void reply.header('location', pathOf(order.orderNumber)).header('etag', etagOf(order));
    return OrderDto.of(order);
  }

  @Get()
  @ApiOperation({ operationId: 'listOrders', summary: 'List orders, newest first' })
  @ApiOkResponse({
    type: OrderPageDto,
    headers: {
      Link: {
        description: 'rel="next" unless this is the last page',
        schema: { type: 'string' },
        example: '</v1/orders?limit=50&cursor=WyIyMDI2…>; rel="next"',
      },
    },
  })
  @ApiProblems('request-invalid', 'cursor-invalid', ...DOWN)
  async page(@Query() query: ListOrdersDto, @Res({ passthrough: true }) reply: FastifyReply): Promise<OrderPageDto> {
    const { partner, state, updatedSince, overdue, limit, cursor } = query;
    const page = await this.list.page(
      {
        partner,
        state,
        updatedSince: updatedSince === undefined ? undefined : new Date(updatedSince),
        overdue: overdue === undefined ? undefined : { is: overdue === 'true', at: this.clock.now() },
      },
      limit,
      cursor,
    );
    if (page.nextCursor !== null) {
      const given = Object.entries({ partner, state, updatedSince, overdue }).filter(
        (entry): entry is [string, string] => entry[1] !== undefined,
      );
      const next = new URLSearchParams([...given, ['limit', String(limit)], ['cursor', page.nextCursor]]);
      void reply.header('link', `</v1/orders?${next.toString()}>; rel="next"`);
    }
    return { items: page.items.map((order) => OrderDto.of(order)), nextCursor: page.nextCursor };
  }

  @Get(':orderNumber')
  @ApiOperation({ operationId: 'getOrder', summary: 'Where an order stands' })
  @ApiParam({ name: 'orderNumber', example: '4500017' })
  @ApiHeader({ name: 'If-None-Match', required: false, description: 'ETag that the caller has', example: '"1"' })
  @ApiOkResponse({ type: OrderDto, headers: { ETag: { schema: { type: 'string' }, example: '"1"' } } })
  @ApiResponse({ status: 304, description: 'Unchanged since the ETag' })
  @ApiProblems('order-unknown', ...DOWN)
  async find(
    @Param('orderNumber') orderNumber: string,
    @Headers('if-none-match') known: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<OrderDto | undefined> {
    const order = await this.existing(orderNumber);
    const etag = etagOf(order);
    void reply.header('etag', etag).header('cache-control', 'private, no-cache');
    if (known !== undefined && matches(known, etag)) {
      void reply.status(304);
      return undefined;
    }
    return OrderDto.of(order);
  }

  private async existing(orderNumber: string): Promise<Order> {
    const order = NUMBER.test(orderNumber) ? await this.list.find(orderNumber) : null;
    if (!order) throw new NonRetriableError('order-unknown', 'There is no order with this number.');
    return order;
  }
}

/** RFC 9110, 13.1.2: a list of tags, compared weakly, or `*`. */
const matches = (known: string, etag: string): boolean =>
  known.trim() === '*' || known.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
