export { Allow, Public, TheCaller } from './allow';
export { addApiKey, type NewApiKey } from './api-keys';
export { audit, type AuditEntry } from './audit';
export { type Area, AREAS, type Caller, mayPartner, type Principal, reaches, type Role, ROLES } from './principal';
export { StaffModule } from './staff.module';
