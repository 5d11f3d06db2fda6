import { join } from 'node:path';
import { cacheFolder, makeOnce } from './folders.mjs';
import { fetchByMaven, pom } from './maven.mjs';

/** The newest that runs on Java 17. */
const APICURIO = '3.0.9';

/**
 * The project takes the coordinates of Apicurio's parent POM, which 3.0.9 names and Maven Central does not hold: Maven then
 * finds a parent here instead of giving up. The archive carries its jars, so nothing else of it is resolved.
 */
const PROJECT = pom(`io.apicurio:apicurio-registry:${APICURIO}`, [
  {
    place: `io.apicurio:apicurio-registry-app:${APICURIO}`,
    extra:
      '<classifier>all</classifier><type>tar.gz</type>' +
      '<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>',
  },
]);

/** Apicurio Registry in the user's cache, fetched once by Maven (109 MB). */
export async function registryJars(report = () => undefined) {
  const runner = `apicurio-registry-app-${APICURIO}-runner.jar`;
  const home = await makeOnce(cacheFolder(`apicurio-${APICURIO}`), (folder) => {
    report(`fetching the schema registry (Apicurio ${APICURIO}) with Maven, once (109 MB)`);
    const name = `The schema registry (Apicurio ${APICURIO})`;
    fetchByMaven({ name, output: join(folder, 'app'), project: PROJECT, goal: 'unpack-dependencies', proof: runner });
  });
  return { home, runner: join(home, 'app', runner) };
}
