import { readFileSync } from 'node:fs';
import { Kafka, logLevel, type Producer } from 'kafkajs';
import type { Acl } from '../../../../src/messaging/kafka';
import type { Account as Login } from '../../../../scripts/servers/index.mjs';
import { eventually } from '../../../support/eventually';
import { NEVER_KILLED, startGuardedKafka } from '../../../support/guarded-kafka';
import { produce } from '../../../support/kafka';
import { admin, answerTopic, asAccount, type Bench, givePartner, rotated, startBench } from './harness';

/** Far from the time that a test takes: what ends before it did not end by it. */
const NEVER_MS = 3_600_000;
const SOON_MS = 4000;

/** A partner's program that stays connected, with a client as stubborn as they are. */
class Connected {
  private readonly kafka: Kafka;
  private readonly producer: Producer;

  constructor(bench: Bench, login: Login) {
    this.kafka = new Kafka({
      clientId: login.username,
      brokers: bench.kafka.brokers.split(','),
      ssl: { ca: [readFileSync(bench.kafka.caFile, 'utf8')] },
      sasl: { mechanism: 'scram-sha-512', ...login },
      // A broker refuses whoever authenticates again within a second.
      reauthenticationThreshold: 1500,
      // A second is its default, and a busy broker's TLS takes longer.
      ...{ connectionTimeout: 30_000, authenticationTimeout: 30_000 },
      logLevel: logLevel.NOTHING,
      retry: { retries: 0 },
    });
    this.producer = this.kafka.producer({ allowAutoTopicCreation: false, retry: { retries: 0 } });
  }

  open = () => this.producer.connect();
  close = () => this.producer.disconnect();
  /** Over the connection that is open. */
  async write(topic: string): Promise<true> {
    await this.producer.send({ topic, acks: -1, messages: [{ partition: 0, value: 'x' }] });
    return true;
  }
}

const failureOf = (work: Promise<unknown>): Promise<Error | undefined> =>
  work.then(
    () => undefined,
    (error: unknown) => error as Error,
  );

/** The controller answers before the broker goes by what it said. */
const expectRefused = (client: Connected, topic: string): Promise<Error> =>
  eventually(
    async () => {
      const error = await failureOf(client.write(topic));
      return error && /not authorized|authorization failed/i.test(error.message) ? error : undefined;
    },
    { what: 'it is refused' },
  );

async function connected(bench: Bench): Promise<{ partner: string; username: string; client: Connected }> {
  const { partner, ...old } = await givePartner(bench);
  const client = new Connected(bench, { username: old.username, password: old.password });
  await client.open();
  await client.write(answerTopic(partner));
  return { partner, username: old.username, client };
}

describe('a connection that is open', () => {
  describe('where nobody has to authenticate again', () => {
    let bench: Bench;
    beforeAll(async () => {
      bench = await startBench();
    });
    afterAll(() => bench.close());

    it('is refused each request once its account is retired, for its rights are gone', async () => {
      const { partner, username, client } = await connected(bench);
      try {
        await rotated(bench, { partner });
        await client.write(answerTopic(partner));
        await bench.retirement.retire(partner, username, admin);
        await expectRefused(client, answerTopic(partner));
      } finally {
        await client.close();
      }
    });

    it('is refused each request while its account is disabled, and goes on when it is enabled', async () => {
      const { partner, username, client } = await connected(bench);
      const topic = answerTopic(partner);
      const foreign: Acl = {
        ...{ principal: `User:${username}`, resource: 'topic', name: topic, pattern: 'literal' },
        ...{ operation: 'DescribeConfigs', permission: 'allow', host: '*' },
      };
      try {
        await bench.security.addAcls([foreign]);
        const before = await bench.security.acls({ principal: foreign.principal });
        expect(await bench.disabling.disable(partner, username, admin, 'is it needed?')).toMatchObject({
          state: 'active',
          disabledAt: bench.clock.now(),
        });
        await bench.disabling.disable(partner, username, admin);
        await expectRefused(client, topic);
        await bench.disabling.enable(partner, username, admin);
        expect(await bench.accounts.find(partner, username)).toMatchObject({ disabledAt: null });
        expect((await bench.security.acls({ principal: foreign.principal })).toSorted(byName)).toEqual(
          before.toSorted(byName),
        );
        await eventually(() => client.write(topic), { what: 'it writes again' });
        const audited = await bench.database.query<{ action: string; reason: string | null }>(
          'SELECT action, reason FROM audit_entry WHERE object = :object ORDER BY id',
          { object: `partner-account/${username}` },
        );
        expect(audited).toEqual([
          { action: 'partner-account.create', reason: null },
          { action: 'partner-account.disable', reason: 'is it needed?' },
          { action: 'partner-account.enable', reason: null },
        ]);
      } finally {
        await client.close();
      }
    });
  });

  describe(`where everybody has to authenticate again within ${SOON_MS} ms`, () => {
    let kafka: Awaited<ReturnType<typeof startGuardedKafka>>;
    let bench: Bench;
    beforeAll(async () => {
      kafka = await startGuardedKafka({
        extraProperties: {
          ...NEVER_KILLED,
          'listener.name.partner.connections.max.reauth.ms': SOON_MS,
          'listener.name.partner.connections.max.idle.ms': NEVER_MS,
        },
      });
      bench = await startBench(kafka);
    });
    afterAll(async () => {
      await bench.close();
      await kafka.stop();
    });

    it('ends when its user is gone, even while its rights are still there', async () => {
      const { partner, username, client } = await connected(bench);
      try {
        await bench.security.deleteUser(username);
        // Rights are there, so that only the login can be what ends it.
        await eventually(() => failureOf(client.write(answerTopic(partner))), { timeout: 10 * SOON_MS });
        const again = new Connected(bench, { username, password: 'x' });
        expect(await failureOf(again.open())).toMatchObject({
          message: expect.stringMatching(/authentication/i) as string,
        });
      } finally {
        await client.close();
      }
    });

    it('stays through it while its account is live', async () => {
      const { partner, client } = await connected(bench);
      try {
        const end = performance.now() + 2 * SOON_MS;
        await eventually(async () => (await client.write(answerTopic(partner))) && performance.now() > end, {
          timeout: 10 * SOON_MS,
        });
        const next = await rotated(bench, { partner });
        await produce(answerTopic(partner), [{ value: 'y' }], asAccount(bench, next));
        await client.write(answerTopic(partner));
      } finally {
        await client.close();
      }
    });
  });
});

const byName = (a: { operation: string; name: string }, b: { operation: string; name: string }): number =>
  `${a.name} ${a.operation}`.localeCompare(`${b.name} ${b.operation}`);
