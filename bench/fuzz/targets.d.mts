import type { Target } from './fuzzer.mjs';

export function targetsOf(modules: {
  contracts: object;
  registry: object;
  avsc: object;
  internals: object;
}): Promise<Target[]>;
