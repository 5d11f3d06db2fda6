import { applyDecorators, Body, Controller, Get, HttpCode, Inject, Param, Post, Query, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { despatchAdvice } from '../contracts';
import { OrderList, UnmaskDto, Unmasking } from '../orders';
import { NonRetriableError } from '../platform/errors';
import { ApiProblems, PageQuery } from '../platform/http';
import { Allow, type Caller, TheCaller } from '../staff';
import { ShipmentDto, ShipmentPageDto } from './shipment.dto';
import { ShipmentRepository } from './shipment.repository';

const OrderNumber = ApiParam({
  name: 'orderNumber',
  description: 'As given when the order was placed',
  example: '4500017',
});

const ListShipments = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({ operationId: 'listShipments', summary: 'List what was despatched of an order' }),
    OrderNumber,
    ApiOkResponse({
      type: ShipmentPageDto,
      headers: {
        Link: {
          description: 'Absent on the last page',
          schema: { type: 'string' },
          example: '</v1/orders/4500017/shipments?limit=50&cursor=djE3>; rel="next"',
        },
      },
    }),
    ApiProblems('request-invalid', 'cursor-invalid', 'order-unknown', 'internal', 'database-unavailable'),
  );

const UnmaskShipment = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      operationId: 'unmaskShipment',
      summary: 'Show a despatch with its personal data, for a reason that the audit keeps',
    }),
    OrderNumber,
    ApiParam({ name: 'despatchNumber', description: "The partner's number of the despatch", example: 'D-900' }),
    ApiOkResponse({
      type: ShipmentDto,
      headers: { 'Cache-Control': { schema: { type: 'string' }, example: 'no-store' } },
    }),
    ApiProblems(
      ...['malformed-json', 'request-invalid', 'order-unknown', 'shipment-unknown', 'body-too-large'],
      ...['content-type-unsupported', 'internal', 'database-unavailable'],
    ),
  );

@ApiTags('shipments')
@Controller('v1/orders')
export class ShipmentsController {
  constructor(
    @Inject(OrderList) private readonly orders: OrderList,
    @Inject(ShipmentRepository) private readonly repository: ShipmentRepository,
    @Inject(Unmasking) private readonly unmasking: Unmasking,
  ) {}

  @Get(':orderNumber/shipments')
  @Allow('viewer', 'shipments')
  @ListShipments()
  async page(
    @Param('orderNumber') orderNumber: string,
    @Query() { limit, cursor }: PageQuery,
    @TheCaller() caller: Caller,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ShipmentPageDto> {
    const after = cursor === undefined ? 0 : versionOf(cursor);
    await this.orders.existing(orderNumber, caller);
    const found = await this.repository.page(orderNumber, after, limit + 1);
    const items = found.slice(0, limit);
    const last = items.at(-1);
    const nextCursor = found.length > limit && last ? cursorOf(last.orderVersion) : null;
    if (nextCursor !== null) {
      const next = new URLSearchParams({ limit: String(limit), cursor: nextCursor });
      const path = `/v1/orders/${encodeURIComponent(orderNumber)}/shipments`;
      void reply.header('link', `<${path}?${next.toString()}>; rel="next"`);
    }
    return { items: items.map((shipment) => ShipmentDto.of(shipment)), nextCursor };
  }

  @Post(':orderNumber/shipments/:despatchNumber/unmasking')
  @HttpCode(200)
  @Allow('support', 'shipments')
  @UnmaskShipment()
  async unmask(
    @Param('orderNumber') orderNumber: string,
    @Param('despatchNumber') despatchNumber: string,
    @Body() { reason }: UnmaskDto,
    @TheCaller() by: Caller,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ShipmentDto> {
    const { partner } = await this.orders.existing(orderNumber, by);
    const shipment = await this.repository.find(partner, despatchNumber);
    if (shipment?.orderNumber !== orderNumber)
      throw new NonRetriableError('shipment-unknown', 'The order has no despatch with this number.');
    const { driver } = shipment;
    const object = `shipment/${partner}/${despatchNumber}`;
    const document = driver === null ? {} : { driver };
    const seen = { action: 'shipment.unmask', object, partner, contract: despatchAdvice, document };
    await this.unmasking.book(seen, reason, by);
    void reply.header('cache-control', 'no-store');
    return ShipmentDto.unmasked(shipment);
  }
}

/** The page key: the order's version after the last shipment of the page. */
const cursorOf = (version: number): string => Buffer.from(`v${version}`).toString('base64url');

function versionOf(cursor: string): number {
  const [, digits] = /^v(\d{1,9})$/.exec(Buffer.from(cursor, 'base64url').toString('utf8')) ?? [];
  if (digits !== undefined) return Number(digits);
  throw new NonRetriableError('cursor-invalid', 'The cursor is not one that was given.', {
    violations: [{ pointer: 'cursor', detail: 'must be a cursor as it was given' }],
  });
}
