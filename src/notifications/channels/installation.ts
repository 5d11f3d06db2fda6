import type { Config } from '../../platform/config';
import type { Channel } from '../domain/notification';

type Keys = Pick<
  Config,
  'smtpHost' | 'smsUrl' | 'webhookSecretKeys' | 'emailPerSecond' | 'smsPerSecond' | 'webhookPerSecond'
>;

/** Is there anything to send through over this channel, in this installation? What sends and what is said to people go by it. */
export function isConfigured(config: Keys, channel: Channel): boolean {
  const keys: Record<Channel, boolean> = {
    email: config.smtpHost !== '',
    sms: config.smsUrl.length > 0,
    webhook: config.webhookSecretKeys !== '',
  };
  return keys[channel];
}

/** Most that a provider of this channel is asked a second. */
export const perSecondOf = (config: Keys, channel: Channel): number =>
  ({ email: config.emailPerSecond, sms: config.smsPerSecond, webhook: config.webhookPerSecond })[channel];
