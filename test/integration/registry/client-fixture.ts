import {
  createSchemaRegistry,
  RegistryUnavailable,
  type RegistrySettings,
  type SchemaRegistry,
} from '../../../src/messaging/registry';
import { type Answering, type ReplayServer, startReplay } from './replay-server';

const undo: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of undo.splice(0).reverse()) await end();
});

/** Called after the test, last come first. */
export const afterwards = (end: () => unknown): void => void undo.push(end);

export async function serve(answering: Answering, tls?: { key: string; cert: string }): Promise<ReplayServer> {
  const server = await startReplay(answering, tls);
  afterwards(() => server.stop());
  return server;
}

/** A client with a deadline that no answer misses, also on a machine that stalls: whoever waits for it states a shorter one. */
export function clientOf(urls: string[], settings: Omit<RegistrySettings, 'schemaRegistryUrls'> = {}): SchemaRegistry {
  const registry = createSchemaRegistry({ schemaRegistryUrls: urls, schemaRegistryDeadlineMs: 20_000, ...settings });
  afterwards(() => registry.close());
  return registry;
}

export async function failure(work: Promise<unknown>): Promise<RegistryUnavailable> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(RegistryUnavailable);
  return error as RegistryUnavailable;
}
