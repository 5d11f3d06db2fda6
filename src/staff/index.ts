export { Allow, Public, TheCaller } from './allow';
export { type ApiKey, ApiKeys, type NewApiKey } from './api-keys';
export { audit, type AuditEntry } from './audit';
export { type AuditFilter, AuditLog, type AuditRecord } from './audit-log';
export { type Area, AREAS, type Caller, mayPartner, type Principal, reaches, type Role, ROLES } from './principal';
export { StaffModule } from './staff.module';
