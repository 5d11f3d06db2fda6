import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ServerError } from './server-error.mjs';

const PLUGIN = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1';

/** A project that has nothing but dependencies; `coordinates` are its own, each "group:artifact:version". */
export function pom(coordinates, dependencies) {
  const place = ([group, artifact, version]) =>
    `<groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version>`;
  const lines = dependencies.map(
    ({ place: of, extra = '' }) => `    <dependency>${place(of.split(':'))}${extra}</dependency>\n`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  ${place(coordinates.split(':'))}<packaging>pom</packaging>
  <dependencies>
${lines.join('')}  </dependencies>
</project>
`;
}

/**
 * Runs a goal of Maven's dependency plugin on `project` (a POM's text, left beside `output`). `name` is for the messages;
 * it has worked when a file in `output` begins with `proof`.
 */
export function fetchByMaven({ name, output, project, goal, proof }) {
  const folder = dirname(output);
  const file = join(folder, 'pom.xml');
  mkdirSync(output, { recursive: true });
  writeFileSync(file, project);
  const args = [
    '-q',
    '-B',
    '-C',
    '-f',
    file,
    `${PLUGIN}:${goal}`,
    `-DoutputDirectory=${output}`,
    '-DincludeScope=runtime',
  ];
  const run = spawnSync('mvn', args, { cwd: folder, encoding: 'utf8', shell: process.platform === 'win32' });
  if (run.error?.code === 'ENOENT') {
    throw new ServerError(
      'No Maven found.',
      `${name} is not in the cache yet, and Maven ("mvn") fetches it.`,
      'Install Maven (Debian, Ubuntu: "apt install maven"; macOS: "brew install maven"); after the first start it is no longer needed.',
    );
  }
  rmSync(join(folder, 'target'), { recursive: true, force: true });
  if (run.status === 0 && readdirSync(output).some((entry) => entry.startsWith(proof))) return;
  const said = `${run.stdout}${run.stderr}`
    .trim()
    .split('\n')
    .filter((line) => line.includes('ERROR'));
  throw new ServerError(
    `${name} could not be fetched.`,
    said[0] ?? run.error?.message ?? `mvn ended with exit code ${run.status}`,
    'Check the network and the proxy or mirror in ~/.m2/settings.xml, then start again.',
  );
}
