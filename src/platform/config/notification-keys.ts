import type { Config } from './keys';
import { addressRanges, httpUrls, integer, oneOf, type Key, sealingKeys, sender, text, token } from './parsers';

/** Keys of the role notifier: what it sends through, how fast, how patiently. */
export const NOTIFICATION_KEYS = {
  notificationLeaseMs: {
    env: 'NOTIFICATION_LEASE_MS',
    parse: integer(2_000, 600_000),
    fallback: '60000',
    unit: 'ms',
    doc: 'How long a notifier has a notification to itself. It sends nothing when less of it is left than the provider may take; after it, what was begun is in doubt, and its kind decides.',
  },
  notificationConcurrency: {
    env: 'NOTIFICATION_CONCURRENCY',
    parse: integer(1, 200),
    fallback: '8',
    unit: 'notifications',
    doc: 'Most that one process sends through one provider at once.',
  },
  notificationRetentionDays: {
    env: 'NOTIFICATION_RETENTION_DAYS',
    parse: integer(2, 3650),
    fallback: '90',
    unit: 'days',
    doc: 'How long settled notifications are kept, and with them the memory that an event was told already. Pending and unknown ones never expire.',
  },
  notificationTemplatesDir: {
    env: 'NOTIFICATION_TEMPLATES_DIR',
    parse: text(4096),
    fallback: '',
    unit: 'path',
    doc: 'Folder of templates of your own; each file in it takes the place of the built-in one of that name. Looked at once, at the start: one that asks for what its kind does not have keeps the process from starting.',
  },
  partnerSilentHours: {
    env: 'PARTNER_SILENT_HOURS',
    parse: integer(0, 24 * 30),
    fallback: '24',
    unit: 'hours',
    doc: 'A partner that has sent nothing for so long, while we wait for an answer of it, is called silent. 0: never.',
  },

  smtpHost: {
    env: 'SMTP_HOST',
    parse: text(255),
    fallback: '',
    unit: 'host',
    doc: 'Mail server. Empty: no e-mail is sent; what waits for one goes on waiting until it expires.',
  },
  smtpPort: {
    env: 'SMTP_PORT',
    parse: integer(1, 65535),
    fallback: '587',
    unit: 'port',
    doc: 'The port it listens on.',
  },
  smtpTls: {
    env: 'SMTP_TLS',
    parse: oneOf('starttls', 'implicit', 'none'),
    fallback: 'starttls',
    unit: 'starttls/implicit/none',
    doc: 'starttls: refused without (port 587); implicit: TLS from the first byte (port 465); none: in clear, for a server on this machine.',
  },
  smtpCaFile: {
    env: 'SMTP_CA_FILE',
    parse: text(4096),
    fallback: '',
    unit: 'path',
    doc: 'PEM file of the authority that signed its certificate. Empty: the public ones.',
  },
  smtpUsername: {
    env: 'SMTP_USERNAME',
    parse: text(255),
    fallback: '',
    unit: 'name',
    doc: 'Account of Parley there. Empty: none.',
  },
  smtpPassword: {
    env: 'SMTP_PASSWORD',
    parse: text(1024),
    fallback: '',
    secret: true,
    unit: 'secret',
    doc: 'Its password.',
  },
  emailFrom: {
    env: 'EMAIL_FROM',
    parse: sender,
    fallback: '',
    unit: 'address',
    doc: 'Who e-mails come from: orders@example.com, or "Example Ltd <orders@example.com>". Required with SMTP_HOST.',
  },
  emailPerSecond: {
    env: 'EMAIL_PER_SECOND',
    parse: integer(1, 10_000),
    fallback: '10',
    unit: 'e-mails a second',
    doc: 'Most e-mails a second, over all processes.',
  },

  smsUrl: {
    env: 'SMS_URL',
    parse: httpUrls,
    fallback: '',
    unit: 'URL',
    doc: 'Base URL of your account at Infobip (https://xxxxx.api.infobip.com), whose SMS API v3 is spoken. Empty: no SMS is sent; what waits for one goes on waiting until it expires.',
  },
  smsToken: {
    env: 'SMS_TOKEN',
    parse: token,
    fallback: '',
    secret: true,
    unit: 'secret',
    doc: 'API key there, with the scopes to send and to read logs. Required with SMS_URL.',
  },
  smsFrom: {
    env: 'SMS_FROM',
    parse: text(16),
    fallback: '',
    unit: 'name or number',
    doc: 'Who an SMS comes from, as agreed with the provider. Required with SMS_URL.',
  },
  smsRemembersHours: {
    env: 'SMS_REMEMBERS_HOURS',
    parse: integer(0, 24 * 30),
    fallback: '0',
    unit: 'hours',
    doc: 'How long Infobip refuses a second message under an id that it has accepted: the grace period agreed when it enabled "idempotent message sending" for your account. 0: not enabled; then only its log tells, for 48 hours, whether an SMS in doubt went out.',
  },
  smsPerSecond: {
    env: 'SMS_PER_SECOND',
    parse: integer(1, 10_000),
    fallback: '10',
    unit: 'messages a second',
    doc: 'Most SMS a second, over all processes.',
  },

  webhookSecretKeys: {
    env: 'WEBHOOK_SECRET_KEYS',
    parse: sealingKeys,
    fallback: '',
    secret: true,
    unit: 'secret',
    doc: 'Keys under which secrets of webhooks are sealed in the database: 32 bytes each, base64, separated by commas. The first seals, all open. A new one is put last; first, once every process has it; minutes later all is sealed under it, and the old one can go. Empty: no webhooks.',
  },
  webhookAllowedNetworks: {
    env: 'WEBHOOK_ALLOWED_NETWORKS',
    parse: addressRanges,
    fallback: '',
    unit: 'address list',
    doc: 'Networks that are not public and may be reached all the same, also by http: IP addresses or ranges like 10.1.0.0/16. Empty: none, so that a webhook is no way into your network.',
  },
  webhookPerSecond: {
    env: 'WEBHOOK_PER_SECOND',
    parse: integer(1, 10_000),
    fallback: '20',
    unit: 'requests a second',
    doc: 'Most requests a second to one receiver, over all processes.',
  },
  webhookDisableAfterHours: {
    env: 'WEBHOOK_DISABLE_AFTER_HOURS',
    parse: integer(1, 24 * 30),
    fallback: '120',
    unit: 'hours',
    doc: 'A webhook that has failed for so long without a success between is disabled, with a notice: 5 days.',
  },
} satisfies Record<string, Key<unknown>>;

/** What only makes sense together. What could not be read is undefined here, and has its fault already. */
export function notificationFaults(config: Config): string[] {
  const { smtpHost, smtpTls, emailFrom, smtpUsername, smtpPassword, smsUrl, smsToken, smsFrom } = config;
  const isHere = (host: string) => /^(localhost|127\.[\d.]+|\[?::1\]?)$/.test(host);
  const isInClear = (url: string) => /^http:/i.test(url) && !isHere(new URL(url).hostname);
  const lacks = (smsToken === '' ? ['SMS_TOKEN'] : []).concat(smsFrom === '' ? ['SMS_FROM'] : []);
  return [
    ...(smtpHost && emailFrom === '' ? ['SMTP_HOST needs EMAIL_FROM.'] : []),
    ...((smtpUsername === '') === (smtpPassword === '') ? [] : ['SMTP_USERNAME and SMTP_PASSWORD go together.']),
    ...(smtpTls === 'none' && smtpPassword && !isHere(smtpHost ?? '')
      ? ['SMTP_TLS=none would send SMTP_PASSWORD in clear over the network: take starttls or implicit.']
      : []),
    ...(smsUrl?.some(isInClear) ? ['SMS_URL would send SMS_TOKEN in clear over the network: take https.'] : []),
    ...(smsUrl?.length > 1 ? ['SMS_URL takes one URL.'] : []),
    ...(smsUrl?.length > 0 ? lacks.map((key) => `SMS_URL needs ${key}.`) : []),
  ];
}
