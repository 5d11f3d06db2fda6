export type { Order, OrderState } from './domain/order';
export { IdempotencyKeyEntity, OrderEntity, OrderEventEntity } from './order.entity';
export { OrderService, type PlaceOrder } from './order.service';
export { OrdersModule } from './orders.module';
