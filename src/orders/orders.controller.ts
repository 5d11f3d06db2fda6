import { Body, Controller, Get, Headers, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { NonRetriableError } from '../platform/errors';
import { childTraceparent, etagOf, idempotencyKeyOf, matchesEtag } from '../platform/http';
import { Allow, type Caller, mayPartner, TheCaller } from '../staff';
import { CancellationRequestedDto, CancelOrderDto } from './cancellation.dto';
import { ListOrdersDto, OrderDto, type OrderPageDto, PlaceOrderDto } from './order.dto';
import { TimelineDto } from './timeline.dto';
import { OrderCanceller } from './order-canceller';
import { OrderList } from './order-list';
import { OrderService } from './order.service';
import { OrderTimeline } from './order-timeline';
import { CancelOrder, GetOrder, GetOrderTimeline, ListOrders, PlaceOrder } from './orders.openapi';

@ApiTags('orders')
@Controller('v1/orders')
export class OrdersController {
  constructor(
    private readonly service: OrderService,
    private readonly canceller: OrderCanceller,
    private readonly list: OrderList,
    private readonly timeline: OrderTimeline,
  ) {}

  @Post()
  @HttpCode(201)
  @Allow('operator', 'orders')
  @PlaceOrder()
  async place(
    @Headers('idempotency-key') key: string | undefined,
    @Body() body: PlaceOrderDto,
    @TheCaller() caller: Caller,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<OrderDto> {
    const { orderNumber, partner, currency, lines, contact } = body;
    if (!mayPartner(caller, partner)) throw partnerNotAllowed(caller, partner);
    const order = await this.service.place({
      caller: caller.id,
      callerName: caller.name,
      idempotencyKey: idempotencyKeyOf(key),
      orderNumber,
      partner,
      currency,
      lines,
      contact,
      traceparent: childTraceparent(request.headers, request.id),
    });
    void reply.header('location', pathOf(order.orderNumber)).header('etag', etagOf(order.version));
    return OrderDto.of(order);
  }

  @Get()
  @Allow('viewer', 'orders')
  @ListOrders()
  async page(
    @Query() query: ListOrdersDto,
    @TheCaller() caller: Caller,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<OrderPageDto> {
    const { partner, state, updatedSince, overdue, limit, cursor } = query;
    const page = await this.list.page(
      {
        partners: caller.partners,
        partner,
        state,
        updatedSince: updatedSince === undefined ? undefined : new Date(updatedSince),
        overdue: overdue === undefined ? undefined : overdue === 'true',
      },
      limit,
      cursor,
    );
    if (page.nextCursor !== null) {
      const filters = Object.entries({ partner, state, updatedSince, overdue });
      const given = filters.filter((entry): entry is [string, string] => entry[1] !== undefined);
      const next = new URLSearchParams([...given, ['limit', String(limit)], ['cursor', page.nextCursor]]);
      void reply.header('link', `</v1/orders?${next.toString()}>; rel="next"`);
    }
    return { items: page.items.map((order) => OrderDto.of(order)), nextCursor: page.nextCursor };
  }

  @Get(':orderNumber')
  @Allow('viewer', 'orders')
  @GetOrder()
  async find(
    @Param('orderNumber') orderNumber: string,
    @Headers('if-none-match') known: string | undefined,
    @TheCaller() caller: Caller,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<OrderDto | undefined> {
    const order = await this.list.existing(orderNumber, caller);
    const etag = etagOf(order.version);
    void reply.header('etag', etag).header('cache-control', 'private, no-cache');
    if (known !== undefined && matchesEtag(known, etag)) {
      void reply.status(304);
      return undefined;
    }
    return OrderDto.of(order);
  }

  @Get(':orderNumber/timeline')
  @Allow('viewer', 'orders')
  @GetOrderTimeline()
  async story(@Param('orderNumber') orderNumber: string, @TheCaller() caller: Caller): Promise<TimelineDto> {
    const order = await this.list.existing(orderNumber, caller);
    return TimelineDto.of(order, await this.timeline.of(order, caller));
  }

  @Post(':orderNumber/cancellation')
  @HttpCode(202)
  @Allow('operator', 'orders')
  @CancelOrder()
  async cancel(
    @Param('orderNumber') orderNumber: string,
    @Headers('idempotency-key') key: string | undefined,
    @Body() body: CancelOrderDto,
    @TheCaller() caller: Caller,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<CancellationRequestedDto> {
    const idempotencyKey = idempotencyKeyOf(key);
    const requested = await this.canceller.cancel({
      by: caller,
      idempotencyKey,
      order: await this.list.existing(orderNumber, caller),
      reason: body.reason,
      traceparent: childTraceparent(request.headers, request.id),
    });
    void reply.header('location', pathOf(orderNumber));
    return CancellationRequestedDto.of(requested);
  }
}

const pathOf = (orderNumber: string): string => `/v1/orders/${encodeURIComponent(orderNumber)}`;

const partnerNotAllowed = ({ name }: Caller, partner: string): NonRetriableError =>
  new NonRetriableError('partner-not-allowed', `"${name}" may not place orders with ${partner}.`, {
    violations: [{ pointer: '/partner', detail: 'is not a partner of this caller' }],
  });
