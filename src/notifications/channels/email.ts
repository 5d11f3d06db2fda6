import { readFileSync } from 'node:fs';
import { domainToASCII } from 'node:url';
import type { Config } from '../../platform/config';
import { AppError, messageOf } from '../../platform/errors';
import { EmailProvider, type Sender } from './email-provider';
import { isConfigured } from './installation';
import type { Provider } from './provider';

const TIMEOUT_MS = 30_000;

/** Undefined: this installation sends no e-mail. Throws when its authority can't be read. */
export function emailProvider(config: Config): Provider | undefined {
  if (!isConfigured(config, 'email')) return undefined;
  const ca = () => (config.smtpCaFile === '' ? undefined : readAuthority(config.smtpCaFile));
  ca();
  return new EmailProvider({
    ...{ host: config.smtpHost, port: config.smtpPort, tls: config.smtpTls, ca },
    ...{ username: config.smtpUsername, password: () => config.smtpPassword },
    from: senderOf(config.emailFrom),
    perSecond: config.emailPerSecond,
    // Half of a short lease: a notifier begins nothing when less of it is left.
    timeoutMs: Math.min(TIMEOUT_MS, Math.floor(config.notificationLeaseMs / 2)),
    connections: config.notificationConcurrency,
  });
}

/** Of `orders@example.com` or `"Example Ltd" <orders@example.com>`; the configuration takes nothing else. */
function senderOf(from: string): Sender {
  const [, quoted, plain, bracketed] = /^(?:"([^"]*)"|([^<]*?))\s*<([^>]+)>$/.exec(from.trim()) ?? [];
  const address = bracketed ?? from.trim();
  const at = address.lastIndexOf('@');
  return {
    name: (quoted ?? plain ?? '').trim(),
    address: `${address.slice(0, at)}@${domainToASCII(address.slice(at + 1))}`,
  };
}

function readAuthority(path: string): string {
  try {
    const text = readFileSync(path, 'utf8');
    if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
    throw new RangeError('it holds no certificate in PEM');
  } catch (error) {
    throw new AppError('smtp-ca-unreadable', `SMTP_CA_FILE="${path}" cannot be used: ${messageOf(error)}`, {
      cause: error,
      hint: 'Give the path of a PEM file with the certificate of the authority that signed the mail server’s.',
    });
  }
}
