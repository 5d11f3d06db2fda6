import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { cacheFolder } from '../../scripts/servers/index.mjs';
import { makeOnce } from '../../scripts/servers/folders.mjs';
import { findJava } from '../../scripts/servers/java.mjs';
import { kafkaJars } from '../../scripts/servers/kafka-jars.mjs';
import { fetchByMaven, pom } from '../../scripts/servers/maven.mjs';

const ALONE = '<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>';
const VERSION = '4.4.0';

/** Java and the class path of Kafka's command line tools: one jar more than the broker has (2 MB), fetched with the first call on a machine. */
export async function kafkaTools(): Promise<{ java: string; classPath: string }> {
  const { home, classPath } = (await kafkaJars()) as { home: string; classPath: string };
  const tools = (await makeOnce(cacheFolder(`kafka-tools-${VERSION}`), (folder: string) =>
    fetchByMaven({
      name: `Kafka's tools ${VERSION}`,
      output: join(folder, 'lib'),
      project: pom('parley.dev:kafka-tools:1', [{ place: `org.apache.kafka:kafka-tools:${VERSION}`, extra: ALONE }]),
      goal: 'copy-dependencies',
      proof: 'kafka-tools',
    }),
  )) as string;
  const separator = process.platform === 'win32' ? ';' : ':';
  return {
    java: findJava().command,
    classPath: [join(tools, 'lib', `kafka-tools-${VERSION}.jar`), classPath, home].join(separator),
  };
}

export const JAVA_FLAGS = ['-Xmx128m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];

/** Runs a tool of Kafka's until it ends. */
export async function runTool(
  main: string,
  args: readonly string[],
  { cwd, env, input = '' }: { cwd: string; env: NodeJS.ProcessEnv; input?: string },
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const { java, classPath } = await kafkaTools();
  const child = spawn(java, [...JAVA_FLAGS, '-cp', classPath, `org.apache.kafka.tools.${main}`, ...args], {
    cwd,
    env: { PATH: process.env['PATH'], ...env },
    timeout: 60_000,
  });
  child.stdin.end(input);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await ended, stdout, stderr };
}
