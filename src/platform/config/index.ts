export { CONFIG, ConfigModule } from './config.module';
export { KEYS, type Config } from './keys';
export { ConfigError, loadConfig } from './load-config';
export type { Role } from './parsers';
