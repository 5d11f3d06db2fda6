import type { ProblemCode } from './problem-codes';

/** Codes of what is changed at the broker for partners: accounts, rights, limits. */
export const BROKER_CODES: Readonly<Record<string, ProblemCode>> = {
  'partner-busy': {
    status: 409,
    title: 'Somebody else is changing the partner at the broker',
    help: 'Onboarding, rotation and the end of an account run one at a time for a partner. Wait the seconds in Retry-After, GET the partner, and decide again.',
  },
  'partner-not-onboarded': {
    status: 409,
    title: 'What the partner may do was never stated',
    help: 'Its rights and limits follow from its file. Onboard it with PUT /v1/partners/{id} or "parley partner onboard <id> --file <id>.yaml", then try again.',
  },
  'account-unknown': {
    status: 404,
    title: 'The partner has no such account',
    help: 'GET /v1/partners/{id} shows its accounts.',
  },
  'account-replaced': {
    status: 409,
    title: 'The account was replaced already',
    help: 'Another account has taken its place: perhaps by this very request, sent twice. GET /v1/partners/{id} shows which is active. If nobody has its secret, name that one in "replaces".',
  },
  'accounts-too-many': {
    status: 409,
    title: 'The partner has too many accounts that open the broker',
    help: 'Three are the most at once. Wait for the end of one that was replaced, or end it with "parley partner rotate <partner> --retire-now <account>", or POST /v1/partners/{id}/accounts/{account}/retirement.',
  },
  'account-exists': {
    status: 409,
    title: 'The account is there already',
    help: 'A secret that was lost is replaced by another account. A certificate that was renewed under the same subject needs no rotation.',
  },
  'account-foreign': {
    status: 409,
    title: 'The broker has a user of this name that Parley did not make',
    help: "Parley changes nothing that it did not make. Look at the broker whose user it is; delete it there if it is nobody's, then try again.",
  },
  'account-in-use': {
    status: 409,
    title: 'It is the account that new clients get',
    help: 'Make another with a rotation first. Where it must open nothing from now on, disable it: "parley partner rotate <partner> --disable <account>", or POST /v1/partners/{id}/accounts/{account}/disabling.',
  },
  'account-retired': {
    status: 409,
    title: 'The account was retired',
    help: 'A retired account never comes back, and its number is not used again. Make another with a rotation.',
  },
  'subject-missing': {
    status: 422,
    title: 'The partner comes with certificates of its own',
    help: 'Name the subject of the new certificate in "subject", as the broker\'s mapping rule makes it.',
  },
  'subject-unfit': {
    status: 422,
    title: 'The partner cannot come by this subject',
    help: 'A partner with a password has none: leave "subject" out, or change its file and onboard it again. A certificate must not be called as an account of a partner, Parley\'s, or the administrator\'s.',
  },
  'accounts-unavailable': {
    status: 409,
    title: 'The broker has no accounts',
    help: 'Without KAFKA_SASL_MECHANISM everybody may do everything there. The operator: use a broker with SASL, TLS and an authorizer.',
  },
  'admin-account-missing': {
    status: 503,
    title: "Parley does not have the administrator's account of the broker",
    help: 'This request changed nothing. The operator: set KAFKA_ADMIN_USERNAME and KAFKA_ADMIN_PASSWORD for a process with the role api, or use the command "parley partner" where they are set.',
  },
  'broker-unreachable': {
    status: 503,
    title: 'The broker cannot be reached',
    help: 'Send the same request again: what it did before is kept, and it goes on there. The operator: check KAFKA_ADMIN_BROKERS or KAFKA_BROKERS, and that Kafka runs.',
  },
  'broker-behind': {
    status: 503,
    title: 'A broker does not know the change yet',
    help: 'The change is taken, and one of the brokers has not heard of it in time. Send the same request again.',
  },
  'authentication-failed': {
    status: 503,
    title: "The broker refuses the administrator's account",
    help: 'The operator: check KAFKA_ADMIN_USERNAME and KAFKA_ADMIN_PASSWORD.',
  },
  'not-authorized': {
    status: 503,
    title: "The administrator's account may not do this at the broker",
    help: 'The operator: give it the rights that the detail names, or make it a super user.',
  },
  'security-disabled': {
    status: 503,
    title: 'The broker has no authorizer',
    help: 'Rights cannot be given where nobody checks them. The operator: set authorizer.class.name, or run without KAFKA_SASL_MECHANISM.',
  },
  'sasl-mechanism-refused': {
    status: 503,
    title: 'The broker does not take our SASL mechanism',
    help: 'The operator: set KAFKA_SASL_MECHANISM to one that the port takes.',
  },
  'sasl-not-expected': {
    status: 503,
    title: 'The broker asks for no account on this port',
    help: 'The operator: choose a port that asks for one, or leave KAFKA_SASL_MECHANISM empty.',
  },
  'broker-certificate-untrusted': {
    status: 503,
    title: "No authority that Parley trusts has signed the broker's certificate",
    help: 'The operator: set KAFKA_CA_FILE to the PEM file of the authority that did.',
  },
  'broker-certificate-expired': {
    status: 503,
    title: "The broker's certificate is not valid today",
    help: "The broker's operator must renew it. Look at this machine's clock, too.",
  },
  'broker-host-mismatch': {
    status: 503,
    title: "The broker's certificate is for another host",
    help: "The operator: name the brokers in KAFKA_BROKERS (or KAFKA_ADMIN_BROKERS), and in the broker's advertised.listeners, as the certificate does.",
  },
  'client-certificate-refused': {
    status: 503,
    title: 'The broker does not accept our certificate',
    help: 'The operator: check KAFKA_CERT_FILE and KAFKA_KEY_FILE: valid today, and signed by an authority that the broker trusts.',
  },
  'tls-expected': {
    status: 503,
    title: 'The broker speaks TLS on this port',
    help: 'The operator: set KAFKA_SSL=true, or choose its port without TLS.',
  },
  'tls-not-spoken': {
    status: 503,
    title: 'The broker ends the connection where TLS should begin',
    help: 'The operator: set KAFKA_SSL=false, or choose its port with TLS.',
  },
  'tls-failed': {
    status: 503,
    title: 'The broker refuses TLS with us',
    help: 'The operator: see that both sides know a common version and cipher of TLS.',
  },
};
