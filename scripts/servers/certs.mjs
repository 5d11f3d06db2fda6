import 'reflect-metadata';
import { randomBytes, webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

x509.cryptoProvider.set(webcrypto);
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const DAY = 24 * 60 * 60 * 1000;

/** 16 bytes whose first is below 0x80: a positive number in DER. */
const serial = () => `0${randomBytes(16).toString('hex').slice(1)}`;
const validity = () => ({ notBefore: new Date(Date.now() - DAY / 24), notAfter: new Date(Date.now() + 825 * DAY) });
const makeKeys = () => webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);

async function keyPem(key) {
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key)).toString('base64');
  return `-----BEGIN PRIVATE KEY-----\n${der.match(/.{1,64}/g).join('\n')}\n-----END PRIVATE KEY-----\n`;
}

/**
 * An authority for development: `{ pem, issue(name, options) }`, where `issue` gives `{ key, cert }` in PEM, for a server on this
 * machine and for a client. `hosts`: other names than this machine's; `expired`: it ended a day ago.
 */
export async function makeAuthority(name = 'Parley development CA') {
  const keys = await makeKeys();
  const usage = x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign;
  const authority = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serial(),
    name: `CN=${name}`,
    ...validity(),
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: [new x509.BasicConstraintsExtension(true, 0, true), new x509.KeyUsagesExtension(usage, true)],
  });
  return {
    pem: `${authority.toString('pem')}\n`,
    issue: (commonName, options) => issue({ subject: authority.subject, key: keys.privateKey }, commonName, options),
  };
}

async function issue(authority, commonName, { expired = false, hosts } = {}) {
  const own = await makeKeys();
  const names = hosts?.map((value) => ({ type: 'dns', value })) ?? [
    { type: 'dns', value: 'localhost' },
    { type: 'ip', value: '127.0.0.1' },
  ];
  const cert = await x509.X509CertificateGenerator.create({
    serialNumber: serial(),
    subject: `CN=${commonName}`,
    issuer: authority.subject,
    ...(expired ? { notBefore: new Date(Date.now() - 2 * DAY), notAfter: new Date(Date.now() - DAY) } : validity()),
    signingAlgorithm: ALGORITHM,
    publicKey: own.publicKey,
    signingKey: authority.key,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth, x509.ExtendedKeyUsage.clientAuth]),
      new x509.SubjectAlternativeNameExtension(names),
    ],
  });
  return { key: await keyPem(own.privateKey), cert: `${cert.toString('pem')}\n` };
}
