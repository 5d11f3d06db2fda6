import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, makeOnce } from './folders.mjs';
import { ServerError } from './server-error.mjs';

const KAFKA = '4.4.0';
const LOG4J = '2.25.5';
const PLUGIN = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1';

const POM = `<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>parley.dev</groupId><artifactId>kafka-broker</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>${KAFKA}</version></dependency>
    <dependency><groupId>org.apache.logging.log4j</groupId><artifactId>log4j-slf4j-impl</artifactId><version>${LOG4J}</version></dependency>
  </dependencies>
</project>
`;

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
    fetchJars(folder);
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

function fetchJars(folder) {
  const lib = join(folder, 'lib');
  const pom = join(folder, 'pom.xml');
  mkdirSync(lib, { recursive: true });
  writeFileSync(pom, POM);
  writeFileSync(join(folder, 'log4j2.properties'), LOGGING);
  const args = [
    '-q',
    '-B',
    '-C',
    '-f',
    pom,
    `${PLUGIN}:copy-dependencies`,
    `-DoutputDirectory=${lib}`,
    '-DincludeScope=runtime',
  ];
  const run = spawnSync('mvn', args, { cwd: folder, encoding: 'utf8', shell: process.platform === 'win32' });
  if (run.error?.code === 'ENOENT') {
    throw new ServerError(
      'No Maven found.',
      `Kafka ${KAFKA} is not in the cache yet, and Maven ("mvn") fetches it.`,
      'Install Maven (Debian, Ubuntu: "apt install maven"; macOS: "brew install maven"); after the first start it is no longer needed.',
    );
  }
  if (run.status === 0 && readdirSync(lib).some((name) => name.startsWith('kafka_2.13'))) return;
  const said = `${run.stdout}${run.stderr}`
    .trim()
    .split('\n')
    .filter((line) => line.includes('ERROR'));
  throw new ServerError(
    `Kafka ${KAFKA} could not be fetched.`,
    said[0] ?? run.error?.message ?? `mvn ended with exit code ${run.status}`,
    'Check the network and the proxy or mirror in ~/.m2/settings.xml, then start again.',
  );
}

/**
 * A class-data archive halves the broker's start. It belongs to one build of Java. `record(file)` runs a broker that
 * writes it; where that fails the broker starts without, only slower.
 */
export async function classDataArchive(home, java, record) {
  const target = join(home, `classes-${java.id}.jsa`);
  if (existsSync(target)) return target;
  try {
    return await makeOnce(target, record);
  } catch (error) {
    if (process.env.PARLEY_DEBUG) console.error(error);
    rmSync(target, { force: true });
    return undefined;
  }
}
