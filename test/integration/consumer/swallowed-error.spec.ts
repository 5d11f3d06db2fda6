import { createServer, connect, type AddressInfo, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { query } from '../../../src/platform/database';
import { freshDatabase } from '../../support/database';
import { openWorld } from './harness';

/** Hands the server's answers on byte by byte: what usually comes in one piece comes in many, as on a busy network. */
async function choppingProxy(host: string, port: number) {
  const sockets: Socket[] = [];
  const server = createServer((client) => {
    const upstream = connect(port, host);
    sockets.push(client, upstream);
    client.setNoDelay(true);
    client.pipe(upstream);
    void (async () => {
      for await (const chunk of upstream) {
        for (const byte of chunk as Buffer) {
          client.write(Buffer.of(byte));
          await nextTurn();
        }
      }
    })().catch(() => client.destroy());
    client.on('error', () => upstream.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

describe('a transaction whose failed statement was swallowed', () => {
  test('fails also where the word that it failed comes late', async () => {
    const url = new URL(await freshDatabase());
    const proxy = await choppingProxy(url.hostname, Number(url.port));
    url.port = String(proxy.port);
    const world = await openWorld(url.href);
    try {
      for (let turn = 0; turn < 5; turn++) {
        const work = world.database.transaction(async (tx) => {
          await query(tx, 'SELECT 1/0').catch(() => undefined);
        });
        await expect(work).rejects.toMatchObject({ code: 'transaction-aborted' });
      }
      await world.database.transaction((tx) => query(tx, 'SELECT 1'));
    } finally {
      await world.close();
      proxy.close();
    }
  });
});
