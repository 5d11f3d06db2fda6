import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Admin } from '@platformatic/kafka';

/** Who is who at the guarded broker: its administrator, Parley, and each partner. */
export class Access {
  parley = { username: 'parley', password: randomBytes(24).toString('base64url') };
  /** By partner, as onboarding told them. */
  partners = {};

  constructor(folder) {
    this.folder = folder;
    /** For the process that plays the partners, and for nobody else's eyes. */
    this.accountsFile = join(folder, 'accounts.json');
  }

  /** @param kafka as `startKafka({ secure: true })` gives it */
  use(kafka) {
    this.kafka = kafka;
    this.environment = {
      KAFKA_BROKERS: kafka.brokers,
      KAFKA_SSL: 'true',
      KAFKA_CA_FILE: kafka.caFile,
      KAFKA_SASL_MECHANISM: 'scram-sha-512',
      KAFKA_SASL_USERNAME: this.parley.username,
      KAFKA_SASL_PASSWORD: this.parley.password,
      KAFKA_REPLICATION_FACTOR: '1',
    };
  }

  /** Of commands that make topics, accounts and rights, beside {@link environment}. */
  get administration() {
    const { username, password } = this.kafka.admin;
    return { KAFKA_ADMIN_USERNAME: username, KAFKA_ADMIN_PASSWORD: password };
  }

  /** The file by which a partner is onboarded. */
  partnerFile({ id, name, format }, partitions) {
    const file = join(this.folder, `${id}.yaml`);
    writeFileSync(file, `partner: ${id}\nname: ${name}\nformat: ${format}\npartitions: ${partitions}\n`);
    return file;
  }

  remember(partner, { username, password }) {
    this.partners[partner] = { username, password };
    writeFileSync(this.accountsFile, JSON.stringify(this.partners), { mode: 0o600 });
  }

  /** Of the company's own systems; what plays the partners never sees it. */
  rememberCompany({ username, password }) {
    this.company = { username, password };
  }

  /** Options of a client for an account: of {@link parley}, of a partner, of the company's systems, of the administrator. */
  clientOf({ username, password }) {
    return {
      bootstrapBrokers: [this.kafka.brokers],
      tls: { ca: readFileSync(this.kafka.caFile) },
      sasl: { mechanism: 'SCRAM-SHA-512', username, password },
    };
  }

  asAdministrator = () => this.clientOf(this.kafka.admin);
  asPartner = (id) => this.clientOf(this.partners[id]);
  asCompany = () => this.clientOf(this.company);

  /** The broker's word when a partner's account asks for a topic, which comes before any record; undefined: it may. */
  async refusal(partner, topic) {
    const curious = new Admin({ clientId: 'curious', retries: 0, ...this.asPartner(partner) });
    curious.on('error', () => undefined);
    try {
      await curious.metadata({ topics: [topic] });
      return undefined;
    } catch (error) {
      return wordOf(error) ?? Promise.reject(error);
    } finally {
      await curious.close();
    }
  }
}

/** The broker's name of an error, which the client nests. */
const wordOf = (error) =>
  error?.apiId ?? [error?.cause, ...(error?.errors ?? [])].filter(Boolean).map(wordOf).find(Boolean);
