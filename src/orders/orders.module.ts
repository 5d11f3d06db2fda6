import { Module } from '@nestjs/common';
import { Exchanges } from '../messaging/exchanges';
import { Outbox } from '../messaging/outbox';
import { ReplayAdviceModule, ReplayAdvisors } from '../messaging/triage';
import { Notifications } from '../notifications';
import { Partners } from '../partners';
import { CLOCK, type Clock } from '../platform/clock';
import { Database } from '../platform/database';
import { LOGGER, type Logger } from '../platform/telemetry';
import { IdempotencyRepository } from './idempotency.repository';
import { IdempotencySweeper } from './idempotency-sweeper';
import { OrderCancellationResponseHandler } from './order-cancellation-response.handler';
import { OrderCanceller } from './order-canceller';
import { OrderDeadlines } from './order-deadlines';
import { OrderExchanges } from './order-exchanges';
import { OrderExchangesController } from './order-exchanges.controller';
import { OrderIntake } from './order-intake';
import { OrderList } from './order-list';
import { OrderNotices } from './order-notices';
import { OrderRepository } from './order.repository';
import { OrderResponseHandler } from './order-response.handler';
import { OrderService } from './order.service';
import { OrderSteps } from './order-steps';
import { OrderTimeline } from './order-timeline';
import { OrderUnmaskingController } from './order-unmasking.controller';
import { OrderWithdrawer } from './order-withdrawer';
import { OrdersController } from './orders.controller';
import { PartnerFigures } from './partner-figures';
import { PlacementWriter } from './placement-writer';
import { registerReplayAdvice } from './replay-advice';
import { Unmasking } from './unmasking';

/** Needs from global modules: Database, Outbox, Exchanges, Partners, Notifications, CLOCK, CONFIG, LOGGER. */
@Module({
  imports: [ReplayAdviceModule],
  controllers: [
    OrdersController,
    OrderUnmaskingController,
    OrderExchangesController,
    OrderResponseHandler,
    OrderCancellationResponseHandler,
  ],
  providers: [
    IdempotencySweeper,
    { provide: OrderRepository, inject: [Database], useFactory: (database: Database) => new OrderRepository(database) },
    { provide: OrderList, inject: [Database], useFactory: (database: Database) => new OrderList(database.dataSource) },
    {
      provide: Unmasking,
      inject: [Database, CLOCK],
      useFactory: (database: Database, clock: Clock) => new Unmasking(database, clock),
    },
    {
      provide: OrderTimeline,
      inject: [Database, Exchanges, Notifications, CLOCK],
      useFactory: (database: Database, exchanges: Exchanges, notifications: Notifications, clock: Clock) =>
        new OrderTimeline(database, new OrderExchanges(database, exchanges), notifications, clock),
    },
    {
      provide: OrderNotices,
      inject: [Notifications, Partners, LOGGER],
      useFactory: (notifications: Notifications, partners: Partners, log: Logger) =>
        new OrderNotices(notifications, partners, log),
    },
    {
      provide: OrderDeadlines,
      inject: [OrderRepository, OrderNotices, Exchanges],
      useFactory: (repository: OrderRepository, notices: OrderNotices, exchanges: Exchanges) =>
        new OrderDeadlines(repository, notices, exchanges),
    },
    {
      provide: PartnerFigures,
      inject: [Database, CLOCK, LOGGER],
      useFactory: (database: Database, clock: Clock, log: Logger) => new PartnerFigures(database, clock, log),
    },
    {
      provide: OrderWithdrawer,
      inject: [Database, OrderRepository, Exchanges, CLOCK],
      useFactory: (database: Database, repository: OrderRepository, exchanges: Exchanges, clock: Clock) =>
        new OrderWithdrawer(database, repository, exchanges, clock),
    },
    {
      provide: OrderSteps,
      inject: [OrderRepository, OrderNotices],
      useFactory: (repository: OrderRepository, notices: OrderNotices) => new OrderSteps(repository, notices),
    },
    {
      provide: PlacementWriter,
      inject: [Database, OrderRepository, Outbox, Exchanges, CLOCK],
      useFactory: (
        database: Database,
        repository: OrderRepository,
        outbox: Outbox,
        exchanges: Exchanges,
        clock: Clock,
      ) => new PlacementWriter(database, repository, outbox, exchanges, clock),
    },
    {
      provide: OrderCanceller,
      inject: [Database, OrderRepository, Outbox, Exchanges, CLOCK],
      useFactory: (database: Database, orders: OrderRepository, outbox: Outbox, exchanges: Exchanges, clock: Clock) =>
        new OrderCanceller(database, { orders, keys: new IdempotencyRepository() }, outbox, exchanges, clock),
    },
    {
      provide: OrderIntake,
      inject: [PlacementWriter],
      useFactory: (writer: PlacementWriter) => new OrderIntake(writer),
    },
    {
      provide: OrderService,
      inject: [Partners, Outbox, OrderIntake],
      useFactory: (partners: Partners, outbox: Outbox, intake: OrderIntake) =>
        new OrderService(partners, outbox, intake),
    },
  ],
  exports: [OrderService, OrderList, OrderSteps, Unmasking],
})
export class OrdersModule {
  constructor(advisors: ReplayAdvisors, repository: OrderRepository) {
    registerReplayAdvice(advisors, repository);
  }
}
