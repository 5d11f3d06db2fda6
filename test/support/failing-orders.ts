import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { despatchAdvice, orderResponse, topicFor, typeOf } from '../../src/contracts';
import type { Role } from '../../src/staff';
import { freshDatabase } from './database';
import { eventually } from './eventually';
import { type KafkaDoor, produce, uniqueName } from './kafka';
import { ParleyProcess, Program } from './parley-process';
import { giveKeyAt, type TestKey } from './staff';

export interface PlacedOrder {
  orderNumber: string;
  correlationId: string;
}

export interface CliRun {
  code: number | null;
  stdout: string;
  /** Both, as a person sees them. */
  output: string;
}

/** Parley in a process of its own, with a partner whose documents fail, and the commands of support against it. */
export class FailingOrders {
  readonly keys = new Map<Role, TestKey>();
  private readonly doors = new Map<string, KafkaDoor>();

  private constructor(
    readonly parley: ParleyProcess,
    readonly partner: string,
    private readonly databaseUrl: string,
  ) {}

  static async start(env: NodeJS.ProcessEnv = {}): Promise<FailingOrders> {
    const databaseUrl = await freshDatabase();
    const partner = uniqueName('acme');
    const parley = await ParleyProcess.prepare(databaseUrl, env);
    const orders = new FailingOrders(parley, partner, databaseUrl);
    for (const role of ['viewer', 'support', 'operator', 'admin'] as const)
      orders.keys.set(role, await giveKeyAt(databaseUrl, { role, name: role }));
    await orders.addPartner(partner);
    await parley.start();
    return orders;
  }

  async addPartner(id: string): Promise<void> {
    this.doors.set(id, await this.parley.addPartner(id, '--format', 'json', '--partitions', '1'));
  }

  /** Begins `parley …` as it runs on somebody's machine: it knows where the API is and a key, and nothing else. */
  begin(args: readonly string[], role: Role = 'operator', stdin: 'ignore' | 'pipe' = 'ignore'): Program {
    const env = { PARLEY_URL: this.parley.apiUrl, PARLEY_API_KEY: this.keys.get(role)?.token };
    return Program.run('cli/main.js', args, env, stdin);
  }

  async run(args: readonly string[], role?: Role): Promise<CliRun> {
    const program = this.begin(args, role);
    const code = await program.finished();
    return { code, stdout: program.stdout, output: program.output };
  }

  /** Standard output of a command with --json, which must be JSON and nothing else. */
  async json<T>(args: readonly string[], expected = 0, role?: Role): Promise<T> {
    const { code, stdout, output } = await this.run([...args, '--json'], role);
    if (code !== expected) throw new Error(`parley ${args.join(' ')} ended with ${code}: ${output}`);
    return JSON.parse(stdout) as T;
  }

  async place(partner = this.partner, item = 'X1'): Promise<PlacedOrder> {
    const lines = [{ lineNumber: 1, item, quantity: '2', unit: 'C62', unitPrice: '9.50' }];
    const answer = await this.parley.request('/v1/orders', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': randomUUID() },
      body: JSON.stringify({ partner, currency: 'EUR', lines }),
    });
    if (answer.status !== 201) throw new Error(`${answer.status} ${await answer.text()}`);
    const { orderNumber } = (await answer.json()) as { orderNumber: string };
    const exchanges = await this.parley.request(`/v1/orders/${orderNumber}/exchanges`);
    const { items } = (await exchanges.json()) as { items: { correlationId: string }[] };
    return { orderNumber, correlationId: items[0]?.correlationId ?? '' };
  }

  /** The partner answers; `change` members of a valid acceptance. Returns its bytes. */
  async answer({ orderNumber, correlationId }: PlacedOrder, change: Record<string, unknown> = {}): Promise<string> {
    const document = { orderNumber, responseCode: 'AP', issuedAt: '2026-03-01T10:00:00Z', ...change };
    const value = JSON.stringify(document);
    await this.produce(topicFor(orderResponse, this.partner), typeOf(orderResponse), orderNumber, value, correlationId);
    return value;
  }

  /** The partner says that it has sent the goods: too early, while the order is not accepted. */
  async despatch({ orderNumber }: PlacedOrder, despatchNumber: string): Promise<void> {
    const document = {
      ...{ orderNumber, despatchNumber, issuedAt: '2026-03-01T10:00:00Z' },
      lines: [{ lineNumber: 1, quantity: '1' }],
    };
    const topic = topicFor(despatchAdvice, this.partner);
    await this.produce(topic, typeOf(despatchAdvice), orderNumber, JSON.stringify(document), randomUUID());
  }

  /** Dead letters: answers to new orders with a time that is none. Ids in the order of the orders. */
  async dead(count: number): Promise<{ order: PlacedOrder; id: string }[]> {
    const orders: PlacedOrder[] = [];
    for (let n = 0; n < count; n++) orders.push(await this.place());
    for (const order of orders) await this.answer(order, { issuedAt: 'yesterday' });
    return Promise.all(orders.map(async (order) => ({ order, id: await this.letterOf(order) })));
  }

  /** Id of the order's dead letter, once there is one. */
  letterOf({ orderNumber }: PlacedOrder): Promise<string> {
    return eventually(
      async () => {
        const answer = await this.parley.request(`/v1/dead-letters?order=${orderNumber}`);
        return ((await answer.json()) as { items: { id: string }[] }).items[0]?.id;
      },
      { interval: 50, what: `the answer to ${orderNumber} is a dead letter` },
    );
  }

  async stateOf({ orderNumber }: PlacedOrder): Promise<string> {
    const answer = await this.parley.request(`/v1/orders/${orderNumber}`);
    return ((await answer.json()) as { state: string }).state;
  }

  /** Writes into the database of the process, which lives on; resolves with what is returned. */
  async write<Row>(sql: string, values: readonly unknown[]): Promise<Row[]> {
    const client = new Client({ connectionString: this.databaseUrl });
    await client.connect();
    try {
      return (await client.query(sql, [...values])).rows as Row[];
    } finally {
      await client.end();
    }
  }

  async end(): Promise<void> {
    await this.parley.end('SIGKILL');
  }

  private produce(topic: string, type: string, key: string, value: string, correlationId: string): Promise<void> {
    const headers = {
      ...{ ce_specversion: '1.0', ce_id: randomUUID(), ce_source: `/partners/${this.partner}`, ce_type: type },
      ...{ ce_time: '2026-03-01T10:00:00Z', ce_subject: key, ce_correlationid: correlationId },
      'content-type': 'application/json',
    };
    return produce(topic, [{ key, value, headers }], this.doors.get(this.partner));
  }
}
