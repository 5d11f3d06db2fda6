import { Module } from '@nestjs/common';
import { Exchanges } from '../messaging/exchanges';
import { Outbox } from '../messaging/outbox';
import { OrdersModule, OrderSteps } from '../orders';
import { Database } from '../platform/database';
import { DespatchAdviceHandler } from './despatch-advice.handler';
import { DespatchWriter } from './despatch-writer';
import { ShipmentRepository } from './shipment.repository';
import { ShipmentsController } from './shipments.controller';

/** Needs from global modules: Database, Outbox, Exchanges. */
@Module({
  imports: [OrdersModule],
  controllers: [DespatchAdviceHandler, ShipmentsController],
  providers: [
    {
      provide: ShipmentRepository,
      inject: [Database],
      useFactory: (database: Database) => new ShipmentRepository(database),
    },
    {
      provide: DespatchWriter,
      inject: [OrderSteps, ShipmentRepository, Exchanges, Outbox],
      useFactory: (steps: OrderSteps, repository: ShipmentRepository, exchanges: Exchanges, outbox: Outbox) =>
        new DespatchWriter(steps, repository, exchanges, outbox),
    },
  ],
})
export class ShipmentsModule {}
