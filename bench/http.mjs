import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { closedLoop, cpuMeter, median } from './measure.mjs';
import { LINES } from './orders.mjs';
import { environment, makeDatabase, makeKey, spawnParley } from './parley.mjs';
import { dropDatabase, settle } from './servers.mjs';

export const title = 'Orders accepted through HTTP (POST /v1/orders on keep-alive connections, a process of its own)';
export const needs = ['reference'];

/**
 * A keep-alive connection that has one request outstanding. Bare, because on two cores a full HTTP client would cost as
 * much as the server that it measures.
 */
class Connection {
  #socket;
  #received = '';
  #answered;

  static open(url) {
    const { hostname, port } = new URL(url);
    const connection = new Connection();
    return new Promise((resolve, reject) => {
      connection.#socket = connect({ host: hostname, port: Number(port), noDelay: true }, () => resolve(connection));
      connection.#socket.setEncoding('latin1');
      connection.#socket.on('error', (error) => (connection.#answered?.reject ?? reject)(error));
      connection.#socket.on('data', (text) => connection.#take(text));
    });
  }

  #take(text) {
    this.#received += text;
    const end = this.#received.indexOf('\r\n\r\n');
    if (end < 0) return;
    const length = Number(/^content-length: (\d+)\r$/im.exec(this.#received.slice(0, end + 2))?.[1] ?? 0);
    if (this.#received.length < end + 4 + length) return;
    const answer = { status: Number(this.#received.slice(9, 12)), body: this.#received.slice(end + 4) };
    this.#received = '';
    this.#answered.resolve(answer);
  }

  request(text) {
    this.#answered = Promise.withResolvers();
    this.#socket.write(text);
    return this.#answered.promise;
  }

  close() {
    this.#socket.destroy();
  }
}

const requestFor = (partner, key) => {
  const body = JSON.stringify({ partner, currency: 'EUR', lines: LINES });
  return `POST /v1/orders HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\nidempotency-key: ${randomUUID()}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
};

export async function run({ servers, quick, report, reference }) {
  const partners = await makeDatabase(servers, 'http');
  const key = await makeKey(servers, 'http');
  const parley = await spawnParley(environment(servers, 'http', { ROLES: 'api' }));
  try {
    for (const callers of [64, 8, 64]) {
      const connections = await Promise.all(Array.from({ length: callers }, () => Connection.open(parley.apiUrl)));
      const free = [...connections];
      const work = async (n) => {
        const connection = free.pop();
        const { status, body } = await connection.request(requestFor(partners[n % partners.length], key));
        if (status !== 201) throw new Error(`POST /v1/orders answered ${status}: ${body}`);
        free.push(connection);
      };
      const warm = callers === 64 && !run.warm;
      const cpu = cpuMeter({ postgres: servers.postgres.pid, parley: parley.pid, load: process.pid });
      const rates = [];
      let orders = 0;
      for (let round = 0; round < (quick || warm ? 1 : 3); round++) {
        const { calls, perSecond } = await closedLoop({ callers, ms: quick ? 1000 : 3000, work });
        rates.push(perSecond);
        orders += calls;
      }
      connections.forEach((connection) => connection.close());
      run.warm = true;
      if (warm) continue;
      const spent = cpu();
      const share = (ms) => (ms / orders).toFixed(3);
      report({
        name: `${callers} connections`,
        value: median(rates),
        unit: 'orders/s',
        ratio: median(rates) / reference.tps,
        ratioTo: 'the reference',
        note: `CPU ms an order: PostgreSQL ${share(spent.postgres)}, Parley ${share(spent.parley)}, load ${share(spent.load)}`,
      });
    }
  } finally {
    await parley.stop();
  }
  await dropDatabase(servers, 'http');
  await settle(servers);
}
