import { Body, Controller, HttpCode, Param, Post, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { orderRequest } from '../contracts';
import { etagOf } from '../platform/http';
import { Allow, type Caller, TheCaller } from '../staff';
import { OrderDto } from './order.dto';
import { OrderList } from './order-list';
import { UnmaskOrder } from './orders.openapi';
import { UnmaskDto } from './unmasking.dto';
import { Unmasking } from './unmasking';

@ApiTags('orders')
@Controller('v1/orders')
export class OrderUnmaskingController {
  constructor(
    private readonly orders: OrderList,
    private readonly unmasking: Unmasking,
  ) {}

  @Post(':orderNumber/unmasking')
  @HttpCode(200)
  @Allow('support', 'orders')
  @UnmaskOrder()
  async unmask(
    @Param('orderNumber') orderNumber: string,
    @Body() { reason }: UnmaskDto,
    @TheCaller() by: Caller,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<OrderDto> {
    const order = await this.orders.existing(orderNumber, by);
    const { partner, contact, version } = order;
    const document = contact === null ? {} : { contact };
    const seen = { action: 'order.unmask', object: `order/${orderNumber}`, partner, contract: orderRequest, document };
    await this.unmasking.book(seen, reason, by);
    void reply.header('etag', etagOf(version)).header('cache-control', 'no-store');
    return OrderDto.unmasked(order);
  }
}
