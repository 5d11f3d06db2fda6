import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, makeOnce } from './folders.mjs';
import { fetchByMaven, pom } from './maven.mjs';

const KAFKA = '4.4.0';
const LOG4J = '2.25.5';

const PROJECT = pom('parley.dev:kafka-broker:1', [
  { place: `org.apache.kafka:kafka_2.13:${KAFKA}` },
  { place: `org.apache.logging.log4j:log4j-slf4j-impl:${LOG4J}` },
]);

/** What the broker logs goes to the file that its stdout is. */
const LOGGING = `status = warn
appender.console.type = Console
appender.console.name = STDOUT
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = [%d] %p %m (%c)%n
rootLogger.level = warn
rootLogger.appenderRef.stdout.ref = STDOUT
`;

/** Kafka's jars in the user's cache, fetched once by Maven (45 jars, 43 MB). */
export async function kafkaJars(report = () => undefined) {
  const home = await makeOnce(cacheFolder(`kafka-${KAFKA}-${LOG4J}`), (folder) => {
    report(`fetching Kafka ${KAFKA} with Maven, once (43 MB)`);
    fetchByMaven({
      name: `Kafka ${KAFKA}`,
      output: join(folder, 'lib'),
      project: PROJECT,
      goal: 'copy-dependencies',
      proof: 'kafka_2.13',
    });
    writeFileSync(join(folder, 'log4j2.properties'), LOGGING);
  });
  const jars = readdirSync(join(home, 'lib'))
    .filter((name) => name.endsWith('.jar'))
    .sort();
  return {
    home,
    classPath: jars.map((name) => join(home, 'lib', name)).join(process.platform === 'win32' ? ';' : ':'),
    logging: join(home, 'log4j2.properties'),
  };
}
