import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { makeAuthority } from '../../../scripts/servers/certs.mjs';
import { freePort } from '../../../scripts/servers/index.mjs';
import { createSchemaRegistry } from '../../../src/messaging/registry';
import { afterwards, clientOf, failure, serve } from './client-fixture';
import { type Answering, registryOf } from './replay-server';

const GOOD = registryOf({ orders: [5] });

describe('credentials', () => {
  const account = { schemaRegistryUsername: 'kate', schemaRegistryPassword: 'hunter2' };
  const bearer = { schemaRegistryToken: 'eyJhbGciOi.secret-token' };
  const secrets = /hunter2|a2F0ZTpodW50ZXIy|secret-token/;
  /** A proxy that repeats what it was sent. */
  const echo =
    (status: number, secret: string): Answering =>
    ({ headers }) => ({
      status,
      body: { error_code: status * 100 + 1, message: `no: ${headers.authorization}, ${secret}` },
    });

  it.each([401, 403, 404, 409, 422, 500])('are in no error when the registry repeats them with %i', async (status) => {
    for (const settings of [account, bearer]) {
      const registry = clientOf([(await serve(echo(status, Object.values(settings).at(-1) ?? ''))).url], settings);
      const schema = { format: 'avro' as const, text: '"int"', references: [] };
      const error: unknown = await registry.register('orders', schema).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(Error);
      expect(inspect(error, { depth: 10, showHidden: true })).not.toMatch(secrets);
      expect(registry.trouble ?? '').not.toMatch(secrets);
    }
  });

  it('are in no error when nobody answers', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const error = await failure(clientOf([url], account).versions('x'));
    expect(inspect(error, { depth: 10, showHidden: true })).not.toMatch(secrets);
  });

  it('in a URL are refused without being repeated', () => {
    const create = () => createSchemaRegistry({ schemaRegistryUrls: ['http://kate:hunter2@127.0.0.1:1'] });
    expect(create).toThrow(/carries credentials/);
    expect(() => createSchemaRegistry({ schemaRegistryUrls: ['http://kate:hunter2@'] })).not.toThrow(secrets);
  });
});

describe('TLS', () => {
  it('trusts the authority that is named, and no other', async () => {
    const authority = await makeAuthority();
    const server = await serve(GOOD, await authority.issue('localhost'));
    const folder = mkdtempSync(join(tmpdir(), 'parley-registry-ca-'));
    afterwards(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'ca.pem');
    writeFileSync(file, authority.pem);
    const registry = clientOf([server.url], { schemaRegistryCaFile: file });
    expect(await registry.versions('orders')).toHaveLength(1);
    writeFileSync(file, (await makeAuthority('another')).pem);
    const other = clientOf([server.url], { schemaRegistryCaFile: file });
    const error = await failure(other.versions('orders'));
    expect(error.message).toMatch(/can't be reached \(.*(CERT|SIGNATURE|VERIFY).*\)/);
    expect(server.heard).toHaveLength(2);
  });

  it('says which file can not be read', () => {
    const create = () => clientOf(['https://127.0.0.1:1'], { schemaRegistryCaFile: '/gone/ca.pem' });
    expect(create).toThrow(/SCHEMA_REGISTRY_CA_FILE="\/gone\/ca.pem" can't be read/);
  });

  it('does not wait for ever for a port that is open and silent', async () => {
    const silent = createServer((socket) => socket.on('error', () => undefined).resume());
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    afterwards(() => new Promise((resolve) => silent.close(resolve)));
    const url = `https://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    await failure(clientOf([url], { schemaRegistryDeadlineMs: 1000 }).versions('orders'));
  });
});
