export type { Order, OrderLine, OrderState } from './domain/order';
export { SHIPMENT_TRANSITIONS, type ShipmentCell } from './domain/transitions';
export { IdempotencyKeyEntity, OrderEntity, OrderEventEntity } from './order.entity';
export type { LockedOrder } from './order.repository';
export { OrderList } from './order-list';
export { OrderService, type PlaceOrder } from './order.service';
export { OrderSteps, type OrderStep } from './order-steps';
export { OrdersModule } from './orders.module';
