import { createRequire } from 'node:module';

/** Loads files inside kafkajs; everything that reaches into the package goes through here. */
export const loadInternal = createRequire(__filename);

const PATCHED_VERSION = '2.2.4';

/** The patches replace internals of exactly this release: with another one they could corrupt what is sent, so the process must not start. */
export function assertKafkajsVersion(version: string): void {
  if (version === PATCHED_VERSION) return;
  throw new Error(
    `kafkajs ${version} is installed; the patches in messaging/kafka/patches fit ${PATCHED_VERSION} only. Read them again, run their tests, then change the version here.`,
  );
}
