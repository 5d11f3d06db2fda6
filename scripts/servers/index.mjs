export { makeAuthority } from './authority.mjs';
export { startKafka, startKafkaCluster } from './kafka.mjs';
export { startPostgres } from './postgres.mjs';
export { startRegistry } from './registry.mjs';
export { cacheFolder, temporaryFolder } from './folders.mjs';
export { freePort } from './ports.mjs';
export { pauseProcesses } from './processes.mjs';
export { fail, ServerError } from './server-error.mjs';
