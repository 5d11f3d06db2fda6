import { connectionTrouble } from '../../../../src/messaging/kafka/connection-trouble';
import { codeOf } from '../../../../src/messaging/kafka/publish-error';

const named = (name: string, message: string) => Object.assign(new Error(message), { name });
const coded = (code: string, message = 'x') => Object.assign(new Error(message), { code });

describe('what keeps a client from a connection', () => {
  it('is found however deep it lies', () => {
    const deep = new AggregateError([
      new Error('metadata failed', { cause: new AggregateError([new Error('a'), coded('CERT_HAS_EXPIRED')]) }),
    ]);
    expect(connectionTrouble(deep)?.code).toBe('broker-certificate-expired');
  });

  it('is no refusal when the connection ended while it authenticated', () => {
    const prefix = 'SASL SCRAM SHA512 authentication failed: ';
    for (const words of ['Closed connection', 'Not connected', 'Connection error: read ECONNRESET']) {
      const error = named('KafkaJSSASLAuthenticationError', prefix + words);
      expect(connectionTrouble(error)).toBeUndefined();
      expect(codeOf(error)).toBe('broker-unreachable');
    }
    const refused = named(
      'KafkaJSSASLAuthenticationError',
      `${prefix}Authentication failed during authentication due to invalid credentials with SASL mechanism SCRAM-SHA-512`,
    );
    expect(codeOf(refused)).toBe('authentication-failed');
  });

  it.each([
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'client-certificate-refused', '"certificate required"'],
    ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', 'client-certificate-refused', '"unknown ca"'],
    ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', 'tls-failed', '"protocol version"'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'tls-not-spoken', 'KAFKA_SSL=false'],
  ])('is told by the alert %s', (code, ours, words) => {
    expect(connectionTrouble(coded(code))?.code).toBe(ours);
    expect(connectionTrouble(coded(code))?.detail).toContain(words);
  });

  it('is nothing of that for other errors', () => {
    for (const error of [undefined, 'text', new Error('x'), coded('ECONNREFUSED'), coded('ETIMEDOUT')])
      expect(connectionTrouble(error)).toBeUndefined();
  });
});
