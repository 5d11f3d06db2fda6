import { NonRetriableError } from '../platform/errors';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----\r?\n[A-Za-z0-9+/=\r\n]+-----END CERTIFICATE-----/g;

/** The certificates of a PEM file, and nothing that may stand beside them. Throws for a file with a private key, or without a certificate. */
export function certificatesIn(pem: string): string {
  if (pem.includes('PRIVATE KEY')) {
    throw new NonRetriableError('kit-authority-unfit', 'The file with the CA certificate holds a private key, too.', {
      hint: 'Name a file with the certificate alone: what is in the kit leaves the house.',
    });
  }
  const found = pem.match(CERTIFICATE);
  if (found) return `${found.join('\n')}\n`;
  throw new NonRetriableError('kit-authority-unfit', 'The file with the CA certificate holds no certificate in PEM.');
}
