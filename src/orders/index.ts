export type { Order, OrderLine, OrderState } from './domain/order';
export { IdempotencyKeyEntity, OrderEntity, OrderEventEntity } from './order.entity';
export { OrderList } from './order-list';
export { OrderService, type PlaceOrder } from './order.service';
export { OrdersModule } from './orders.module';
