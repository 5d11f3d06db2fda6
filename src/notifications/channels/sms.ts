import type { Config } from '../../platform/config';
import { isConfigured } from './installation';
import type { Provider } from './provider';
import { InfobipSmsApi } from './sms-infobip';
import { SmsProvider } from './sms-provider';

const TIMEOUT_MS = 15_000;

/** Undefined: this installation sends no SMS. */
export function smsProvider(config: Config): Provider | undefined {
  const [baseUrl] = config.smsUrl;
  if (baseUrl === undefined || !isConfigured(config, 'sms')) return undefined;
  const api = new InfobipSmsApi({
    baseUrl,
    apiKey: () => config.smsToken,
    sender: config.smsFrom,
    remembersMs: config.smsRemembersHours * 60 * 60 * 1000,
  });
  return new SmsProvider(api, {
    perSecond: config.smsPerSecond,
    // Half of a short lease: a notifier begins nothing when less of it is left.
    timeoutMs: Math.min(TIMEOUT_MS, Math.floor(config.notificationLeaseMs / 2)),
    connections: config.notificationConcurrency,
  });
}
