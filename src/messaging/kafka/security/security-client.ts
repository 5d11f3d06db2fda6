import type { Connection } from '@platformatic/kafka';
import { AppError } from '../../../platform/errors';
import { sleep } from '../../../platform/polling';
import { AdminClient } from '../admin-client';
import type { KafkaSettings } from '../client-settings';

const SETTLED_TIMEOUT_MS = 10_000;
const SETTLED_INTERVAL_MS = 25;

/** The administrator's client, and what the verbs of one matter each build on: an error's words, one broker, all brokers. */
export class SecurityClient {
  private readonly client: AdminClient;
  private readonly account: string;

  constructor(settings: KafkaSettings) {
    this.client = new AdminClient(settings, 'security');
    this.account = settings.kafkaSaslUsername;
  }

  get admin(): AdminClient['admin'] {
    return this.client.admin;
  }

  /** @param needs the right that the account must have, for the hint of `not-authorized`: `Alter on the cluster` */
  asked<T>(doing: string, needs: string, call: () => Promise<T>): Promise<T> {
    const account = this.account === '' ? 'The account' : `The account "${this.account}"`;
    return this.client.asked(doing, call, `${account} needs the right ${needs}.`);
  }

  /** Through the first broker that takes a connection: each passes on to the controller what is the controller's. */
  async onOne<T>(call: (broker: Connection) => Promise<T>): Promise<T> {
    const { live, failure } = await this.live(1);
    const [broker] = live;
    if (!broker) throw failure;
    return call(broker);
  }

  /** Through each broker that lives. */
  async onEach<T>(call: (broker: Connection) => Promise<T>): Promise<T[]> {
    const { live, failure } = await this.live(Infinity);
    if (live.length === 0) throw failure;
    return Promise.all(live.map(call));
  }

  /**
   * Waits until each broker that lives knows of a change: the controller answers before that, and a login or a right that
   * one of them does not know yet would be refused in between.
   */
  async settled(what: string, isKnown: (broker: Connection) => Promise<boolean>): Promise<void> {
    const deadline = Date.now() + SETTLED_TIMEOUT_MS;
    while (!(await this.onEach(isKnown)).every(Boolean)) {
      if (Date.now() > deadline) {
        throw new AppError('broker-behind', `${what} is taken by the controller, but a broker does not know it yet`, {
          hint: 'Try again: what is there already stays as it is.',
        });
      }
      await sleep(SETTLED_INTERVAL_MS);
    }
  }

  private async live(most: number): Promise<{ live: Connection[]; failure: unknown }> {
    const { brokers } = await this.admin.metadata({ topics: [], forceUpdate: true });
    const live: Connection[] = [];
    let failure: unknown = new AppError('broker-unreachable', 'the metadata names no broker');
    for (const id of brokers.keys()) {
      try {
        live.push(...(await this.admin.connectToBrokers([id])).values());
      } catch (error) {
        failure = error;
      }
      if (live.length >= most) break;
    }
    return { live, failure };
  }

  close(): Promise<void> {
    return this.client.close();
  }
}
