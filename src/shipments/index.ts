export { ShipmentEntity } from './shipment.entity';
export { ShipmentsModule } from './shipments.module';
