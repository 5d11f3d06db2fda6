import { randomBytes, X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeAuthority } from './authority.mjs';

/** A certificate that ends sooner is made anew: a run that begins today goes on for a while. */
const LEAST_VALIDITY_MS = 30 * 24 * 60 * 60 * 1000;

/**
 * The broker's certificate and the authority that signed it, in `folder`: made at the first start, kept, and made anew
 * when a month is left. The authority's key is kept nowhere.
 */
export async function brokerCertificate(folder) {
  const caFile = join(folder, 'ca.pem');
  const keystore = join(folder, 'broker.keystore.pem');
  if (!isGood(keystore) || !existsSync(caFile)) {
    const authority = await makeAuthority();
    const { key, cert } = await authority.issue('localhost');
    writeFileSync(caFile, authority.pem);
    writeFileSync(keystore, key + cert + authority.pem, { mode: 0o600 });
  }
  return { caFile, keystore };
}

function isGood(keystore) {
  if (!existsSync(keystore)) return false;
  const { validTo } = new X509Certificate(
    readFileSync(keystore, 'utf8').replace(/^-+BEGIN PRIVATE[^]*?END PRIVATE.*\n/, ''),
  );
  return Date.parse(validTo) - Date.now() > LEAST_VALIDITY_MS;
}

/**
 * The authority whose clients the MTLS listener lets in: `trustFile` for the broker, and `issueClient(name, options)` (options of
 * certs.mjs), which leaves a certificate and its key in files. Made anew at each start.
 */
export async function clientAuthority(folder) {
  const authority = await makeAuthority('Parley development CA of clients');
  const trustFile = join(folder, 'clients-ca.pem');
  writeFileSync(trustFile, authority.pem);
  const made = join(folder, 'clients');
  mkdirSync(made, { recursive: true, mode: 0o700 });
  return {
    trustFile,
    async issueClient(name, options) {
      const { key, cert } = await authority.issue(name, options);
      const stem = join(made, randomBytes(6).toString('hex'));
      const files = { certFile: `${stem}.pem`, keyFile: `${stem}.key` };
      writeFileSync(files.certFile, cert);
      writeFileSync(files.keyFile, key, { mode: 0o600 });
      return files;
    },
  };
}

export const passwordFile = (folder, { username }) => join(folder, `${username}.password`);

/** The account `username` of the broker whose data lie in `folder`: a random password that stays, for its owner's eyes only. */
export function keptAccount(folder, username) {
  const file = passwordFile(folder, { username });
  if (!existsSync(file)) writeFileSync(file, randomBytes(24).toString('base64url'), { mode: 0o600 });
  return { username, password: readFileSync(file, 'utf8').trim() };
}
