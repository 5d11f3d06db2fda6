export type { Order, OrderLine, OrderState } from './domain/order';
export { SHIPMENT_TRANSITIONS, type ShipmentCell } from './domain/transitions';
export { IdempotencyKeyEntity, OrderEntity, OrderEventEntity } from './order.entity';
export type { LockedOrder } from './order.repository';
export { ORDER_OBSERVER, type OrderObserver } from './order-observer';
export { OrderList } from './order-list';
export { OrderService, type PlaceOrder } from './order.service';
export { OrderSteps, type OrderStep } from './order-steps';
export { PartnerFigures } from './partner-figures';
export { OrdersModule } from './orders.module';
export { UnmaskDto } from './unmasking.dto';
export { Unmasking } from './unmasking';
// As the REST API shows them.
export type { ExchangeDto, ExchangeListDto } from './exchange.dto';
export type { OrderDto } from './order.dto';
export type { TimelineDto } from './timeline.dto';
