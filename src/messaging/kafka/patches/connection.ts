import { loadInternal } from './version';

interface Connection {
  connect(): Promise<boolean>;
}

/**
 * Two requests that find a connection closed each open a socket of their own, and both sockets then feed one read buffer:
 * answers get mixed. Calls that come while a connection is being made now share it.
 */
export function shareConnect(connect: (this: Connection) => Promise<boolean>): (this: Connection) => Promise<boolean> {
  const underway = new WeakMap<Connection, Promise<boolean>>();
  return function (this: Connection) {
    const current = underway.get(this);
    if (current) return current;
    const made = connect.call(this).finally(() => underway.delete(this));
    underway.set(this, made);
    return made;
  };
}

export function patchConnection(): void {
  const connection = loadInternal('kafkajs/src/network/connection') as { prototype: Connection };
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called with its own `this` by shareConnect
  connection.prototype.connect = shareConnect(connection.prototype.connect);
}
