import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ServerError } from './server-error.mjs';

const OLDEST = 17;
const INSTALL =
  'Install one (Debian, Ubuntu: "apt install openjdk-17-jre-headless"; macOS: "brew install openjdk"; https://adoptium.net), or set JAVA_HOME.';

/** The Java that runs Kafka and the schema registry: the one in JAVA_HOME, else the one on PATH. `id` tells two builds apart. */
export function findJava() {
  const home = process.env.JAVA_HOME;
  const exe = process.platform === 'win32' ? 'java.exe' : 'java';
  const command = home ? join(home, 'bin', exe) : exe;
  if (home && !existsSync(command)) {
    throw new ServerError(
      `No Java in JAVA_HOME (${home}).`,
      `Kafka and the schema registry run on Java; ${command} does not exist.`,
      'Point JAVA_HOME to an installed Java 17 or newer, or unset it.',
    );
  }
  const asked = spawnSync(command, ['-version'], { encoding: 'utf8' });
  if (asked.error || asked.status !== 0) {
    throw new ServerError('No Java found.', 'Kafka and the schema registry run on Java 17 or newer.', INSTALL);
  }
  const [, version = 'unknown'] = /version "([^"]+)"/.exec(asked.stderr) ?? [];
  const major = Number(version.startsWith('1.') ? version.split('.')[1] : version.split(/[.+-]/)[0]);
  if (!(major >= OLDEST)) {
    throw new ServerError(
      `Java is too old: found ${version}${home ? ` in JAVA_HOME (${home})` : ''}.`,
      `Kafka 4 and the schema registry need Java ${OLDEST} or newer.`,
      INSTALL,
    );
  }
  return { command, version, id: createHash('sha256').update(asked.stderr).digest('hex').slice(0, 12) };
}
