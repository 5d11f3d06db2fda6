import { applyDecorators, Controller, Get, Inject, Param, Query, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { ORDER_NUMBER_PATTERN } from '../contracts';
import { OrderList } from '../orders';
import { NonRetriableError } from '../platform/errors';
import { ApiProblems, PageQuery } from '../platform/http';
import { Allow, type Caller, mayPartner, TheCaller } from '../staff';
import { ShipmentDto, ShipmentPageDto } from './shipment.dto';
import { ShipmentRepository } from './shipment.repository';

const NUMBER = new RegExp(ORDER_NUMBER_PATTERN);

const ListShipments = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({ operationId: 'listShipments', summary: 'List what was despatched of an order' }),
    ApiParam({ name: 'orderNumber', description: 'As given when the order was placed', example: '4500017' }),
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

@ApiTags('shipments')
@Controller('v1/orders')
export class ShipmentsController {
  constructor(
    @Inject(OrderList) private readonly orders: OrderList,
    @Inject(ShipmentRepository) private readonly repository: ShipmentRepository,
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
    const order = NUMBER.test(orderNumber) ? await this.orders.find(orderNumber) : null;
    if (!order || !mayPartner(caller, order.partner)) {
      throw new NonRetriableError('order-unknown', 'There is no order with this number.');
    }
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
