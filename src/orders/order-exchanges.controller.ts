import { Body, Controller, Get, HttpCode, Inject, Param, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CLOCK, type Clock } from '../platform/clock';
import { Allow, type Caller, TheCaller } from '../staff';
import type { Order } from './domain/order';
import { ExchangeDto, type ExchangeListDto, WithdrawExchangeDto } from './exchange.dto';
import { sendingsOf } from './order-exchanges';
import { OrderList } from './order-list';
import { OrderTimeline } from './order-timeline';
import { OrderWithdrawer } from './order-withdrawer';
import { ListOrderExchanges, WithdrawExchange } from './orders.openapi';

@ApiTags('orders')
@Controller('v1/orders/:orderNumber/exchanges')
export class OrderExchangesController {
  constructor(
    private readonly orders: OrderList,
    private readonly timeline: OrderTimeline,
    private readonly withdrawer: OrderWithdrawer,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Get()
  @Allow('viewer', 'orders')
  @ListOrderExchanges()
  async list(@Param('orderNumber') orderNumber: string, @TheCaller() caller: Caller): Promise<ExchangeListDto> {
    return { items: await this.exchangesOf(await this.orders.existing(orderNumber, caller)) };
  }

  @Post(':correlationId/withdrawal')
  @HttpCode(200)
  @Allow('support', 'orders')
  @WithdrawExchange()
  async withdraw(
    @Param('orderNumber') orderNumber: string,
    @Param('correlationId') correlationId: string,
    @Body() { reason }: WithdrawExchangeDto,
    @TheCaller() by: Caller,
  ): Promise<ExchangeDto> {
    const order = await this.orders.existing(orderNumber, by);
    await this.withdrawer.withdraw({ by, order, correlationId, reason });
    const exchanges = await this.exchangesOf(await this.orders.existing(orderNumber, by));
    const withdrawn = exchanges.find((exchange) => exchange.correlationId === correlationId);
    if (!withdrawn) throw new Error(`exchange ${correlationId} is withdrawn and not in the history of its order`);
    return withdrawn;
  }

  private async exchangesOf(order: Order): Promise<ExchangeDto[]> {
    const { events, correspondence } = await this.timeline.read(order);
    const { exchanges, requests, places } = correspondence;
    const now = this.clock.now();
    return exchanges.map((exchange) =>
      ExchangeDto.of(
        exchange,
        exchange.direction === 'out' ? sendingsOf(exchange, events, places) : [],
        requests.find((request) => request.exchange === exchange),
        now,
      ),
    );
  }
}
