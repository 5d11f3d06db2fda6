export { CONFIG, ConfigModule } from './config.module';
export { envExample } from './env-example';
export { KEYS, type Config } from './keys';
export { ConfigError, loadConfig, secretFilesOf } from './load-config';
export type { Role } from './parsers';
export { watchSecrets } from './watch-secrets';
