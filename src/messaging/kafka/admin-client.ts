import { Admin, type Connection, instancesChannel } from '@platformatic/kafka';
import { NonRetriableError } from '../../platform/errors';
import { toAdminError } from './admin-error';
import { adminSettings, type KafkaSettings } from './client-settings';
import { type ConnectionTrouble, connectionTrouble } from './connection-trouble';
import { expectNoTls } from './sockets';

/** What a client's connections met: a call is often told only that its connection closed. */
interface Noted {
  trouble: ConnectionTrouble | undefined;
}

/**
 * A connection whose authentication failed tells its second error (the broker's reset) to nobody, and an 'error' without a listener
 * ends the process. A refusal of our certificate, or TLS in answer to a handshake without, is told nowhere else.
 */
instancesChannel.subscribe((message) => {
  const { type, instance } = message as { type: string; instance: Connection };
  if (type !== 'connection') return;
  const note = (error: Error) => {
    if (instance.context instanceof AdminClient)
      instance.context.noted.trouble = connectionTrouble(error) ?? instance.context.noted.trouble;
  };
  instance.on('error', note);
  // Its socket is made right after this event.
  instance.on('connecting', () => {
    if (!(instance.context instanceof AdminClient)) return;
    queueMicrotask(() => instance.socket?.once('data', (data) => expectNoTls(data, note)));
  });
});

/** A client for administration, connected at its first call. */
export class AdminClient {
  readonly admin: Admin;
  readonly noted: Noted = { trouble: undefined };

  /** @param purpose ends up in the client id */
  constructor(
    private readonly settings: KafkaSettings,
    purpose: string,
  ) {
    this.admin = new Admin({ ...adminSettings(settings, purpose), context: this });
    this.admin.on('error', () => undefined);
  }

  /** @param right what to do where the account may not */
  async asked<T>(doing: string, call: () => Promise<T>, right?: string): Promise<T> {
    // The client would look for one until its stack overflows.
    if (this.settings.kafkaBrokers.length === 0)
      throw new NonRetriableError('broker-unreachable', `Could not ${doing}: no broker is named.`, {
        hint: 'Set KAFKA_BROKERS: only what is done for notifications alone does without.',
      });
    this.noted.trouble = undefined;
    try {
      return await call();
    } catch (error) {
      throw toAdminError(doing, error, { right, trouble: this.noted.trouble });
    }
  }

  async close(): Promise<void> {
    await this.admin.close().catch(() => undefined);
  }
}
