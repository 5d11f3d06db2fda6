import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { keptAccount, passwordFile } from './servers/kafka-access.mjs';
import { cacheFolder, fail, startKafka, startPostgres, startRegistry } from './servers/index.mjs';

// PostgreSQL doesn't run as root: as another user it has no way into root's own cache.
const DATA = process.getuid?.() === 0 ? '/var/tmp/parley-infra' : cacheFolder('infra');

const HELP = `Starts the embedded servers for development: PostgreSQL 18, one Kafka 4.4 broker and a
schema registry, on 127.0.0.1.
Their data stays: stop with Ctrl-C, start again and everything is there.

  npm run infra
  npm run infra -- --secure
  npm run infra -- --data ./data --postgres-port 5433 --kafka-port 9093 --registry-port 8082

Options
  --secure               Kafka as in production: TLS, an account for Parley and one for the administrator
                         (SCRAM-SHA-512), nothing allowed without an ACL; its data lie apart from those without
  --data DIR             where the data lies (default: ${DATA})
  --postgres-port PORT   default 5432
  --kafka-port PORT      default 9092
  --registry-port PORT   default 8081
  --help                 this text
`;

const port = (text, option) => {
  const number = Number(text);
  if (Number.isInteger(number) && number > 0 && number < 65536) return number;
  console.error(`${option} must be a port from 1 to 65535, not "${text}". See npm run infra -- --help.`);
  process.exit(2);
};

function readOptions() {
  const options = {
    data: { type: 'string', default: DATA },
    'postgres-port': { type: 'string', default: '5432' },
    'kafka-port': { type: 'string', default: '9092' },
    'registry-port': { type: 'string', default: '8081' },
    secure: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  };
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    console.error(`${error.message}\n\n${HELP}`);
    process.exit(2);
  }
}

/** The broker, and what of the environment says how Parley reaches it. */
async function startBroker(folder, { secure, ...options }) {
  if (!secure) {
    const kafka = await startKafka({ dataDir: folder, ...options });
    return { kafka, lines: [`KAFKA_BROKERS=${kafka.brokers}`] };
  }
  mkdirSync(folder, { recursive: true });
  const parley = keptAccount(folder, 'parley');
  const kafka = await startKafka({ dataDir: folder, secure, accounts: [parley], ...options });
  const lines = [
    `KAFKA_BROKERS=${kafka.brokers}`,
    'KAFKA_SSL=true',
    `KAFKA_CA_FILE=${kafka.caFile}`,
    'KAFKA_SASL_MECHANISM=scram-sha-512',
    `KAFKA_SASL_USERNAME=${parley.username}`,
    `KAFKA_SASL_PASSWORD_FILE=${passwordFile(folder, parley)}`,
    `KAFKA_ADMIN_USERNAME=${kafka.admin.username}`,
    `KAFKA_ADMIN_PASSWORD_FILE=${passwordFile(folder, kafka.admin)}`,
  ];
  return { kafka, lines };
}

async function main() {
  const options = readOptions();
  if (options.help) {
    console.log(HELP);
    return;
  }
  // Topics and accounts of one broker mean nothing to another: the modes share no data, the database neither.
  const folder = options.secure ? join(resolve(options.data), 'secure') : resolve(options.data);
  const report = (text) => console.error(text);
  const ports = {
    postgres: port(options['postgres-port'], '--postgres-port'),
    kafka: port(options['kafka-port'], '--kafka-port'),
    registry: port(options['registry-port'], '--registry-port'),
  };
  const started = await Promise.allSettled([
    startPostgres({ dataDir: `${folder}/postgres`, port: ports.postgres, durable: true }),
    startBroker(join(folder, 'kafka'), { port: ports.kafka, secure: options.secure, report }),
    startRegistry({ dataDir: `${folder}/registry`, port: ports.registry, report }),
  ]);
  const stop = () => Promise.all(started.map(({ value }) => (value?.kafka ?? value)?.stop()));
  const failed = started.flatMap((result) => result.reason ?? []);
  if (failed.length > 0) {
    await stop();
    failed.slice(1).forEach((error) => console.error(error.message));
    fail(failed[0]);
  }
  const [postgres, broker, registry] = started.map((result) => result.value);
  await postgres.createDatabase('parley').catch((error) => {
    // 42P04: it is there from the last time.
    if (error.code !== '42P04') throw error;
  });
  console.log(`DATABASE_URL=${postgres.url('parley')}`);
  for (const line of broker.lines) console.log(line);
  console.log('KAFKA_REPLICATION_FACTOR=1');
  console.log(`SCHEMA_REGISTRY_URLS=${registry.url}`);
  console.error(
    `\nData in ${folder}. Next: put these lines into .env, then "npm run build", "npm run parley -- migrate" and "npm start".`,
  );
  console.error('Stop with Ctrl-C.');
  await untilStopped();
  console.error('stopping ...');
  await stop();
}

/** The servers don't keep this process alive: the timer does. */
function untilStopped() {
  return new Promise((done) => {
    const timer = setInterval(() => undefined, 60_000);
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
      process.once(signal, () => {
        clearInterval(timer);
        done();
      });
    }
  });
}

await main().catch(fail);
