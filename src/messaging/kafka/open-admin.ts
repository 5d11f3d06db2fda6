import { Admin, type Connection, instancesChannel } from '@platformatic/kafka';
import { adminSettings, type KafkaSettings } from './client-settings';

/**
 * A connection whose authentication failed tells its second error (the broker's reset) to nobody, and an 'error' without a listener
 * ends the process. Each call rejects with the first one anyway.
 */
instancesChannel.subscribe((message) => {
  const { type, instance } = message as { type: string; instance: Connection };
  if (type === 'connection') instance.on('error', () => undefined);
});

/** A client for administration, connected at its first call. `purpose` ends up in the client id. */
export function openAdmin(settings: KafkaSettings, purpose: string): Admin {
  const client = new Admin(adminSettings(settings, purpose));
  client.on('error', () => undefined);
  return client;
}
