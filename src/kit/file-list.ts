/** Settings of clients, written from the templates of the same name. */
export const CLIENT_FILES = [
  'clients/java/client.properties',
  'clients/java/producer.properties',
  'clients/java/consumer.properties',
  'clients/node/kafkajs.mjs',
  'clients/node/platformatic.mjs',
  'clients/dotnet/Program.cs',
  'clients/python/client.py',
  'clients/kcat/kcat.conf',
] as const;

/** Of the sandbox, likewise. */
export const SANDBOX_FILES = ['sandbox/compose.yaml', 'sandbox/register-schemas.mjs'] as const;

/** The broker's set-up as `docker/kafka` has it. */
export const SANDBOX_BROKER_FILES = ['certificates.sh', 'client.properties', 'server.properties', 'start.sh'] as const;
