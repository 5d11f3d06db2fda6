import { randomUUID } from 'node:crypto';
import { type Format, orderRequest, topicFor } from '../../contracts';
import { ChannelCatalog } from '../../messaging/channels';
import { keepCertification, Partners } from '../../partners';
import { systemClock } from '../../platform/clock';
import type { Config } from '../../platform/config';
import type { Database } from '../../platform/database';
import { AppError, NonRetriableError } from '../../platform/errors';
import {
  type Access,
  type CertificationReport,
  type CertifyOptions,
  runCertification,
  type Terminal,
} from '../../simulator';
import { audit } from '../../staff';
import { withDatabase } from '../context';
import { hint } from '../output';
import { staffCaller } from '../staff-caller';
import { publishLater } from './later-schema';

/** Certifies a partner of ours at our brokers, and keeps the result with it. */
export function certifyOwn(
  options: CertifyOptions,
  { validForMs, publishesLater }: { validForMs: number; publishesLater: boolean },
  terminal: Terminal,
): Promise<number> {
  return withDatabase(async (database, config) => {
    const { partner } = options;
    const found = await new Partners(database).find(partner);
    if (!found) {
      throw new AppError('partner-unknown', `There is no partner ${partner}.`, { hint: 'See "parley partner list".' });
    }
    const isSuspended = found.state === 'suspended';
    if (isSuspended) {
      hint(
        `${partner} is suspended: what it answers now is kept, and becomes dead letters when it is resumed, which change no order.`,
      );
    }
    const access = options.access ?? accessOf(config);
    const format = options.format ?? (await formatOf(database, partner));
    if (publishesLater && format === 'avro') await publishLater(access, partner);
    const { report, exitCode } = await runCertification(
      {
        ...options,
        companyGroup: options.companyGroup ?? config.kafkaConsumerGroup,
        isBeside: options.isBeside || isSuspended,
      },
      { access, format },
      terminal,
    );
    const expiresAt = await keep(database, { ...report, brokers: access.brokers }, validForMs);
    hint(`Kept with ${partner}; it counts until ${expiresAt.toISOString()}.`);
    return exitCode;
  });
}

async function keep(
  database: Database,
  report: CertificationReport & Pick<Access, 'brokers'>,
  validForMs: number,
): Promise<Date> {
  const by = staffCaller();
  const { partner, suite, passed, finishedAt } = report;
  const ranAt = new Date(finishedAt);
  const expiresAt = new Date(ranAt.getTime() + validForMs);
  const certification = {
    id: randomUUID(),
    partner,
    suite,
    passed,
    report: { ...report },
    ranAt,
    ranBy: by.name,
    expiresAt,
  };
  await database.transaction(async (tx) => {
    await keepCertification(tx, certification);
    const detail = { certification: certification.id, suite, passed };
    await audit(
      tx,
      { by, action: 'partner.certify', object: `partner/${partner}`, partner, detail },
      systemClock.now(),
    );
  });
  return expiresAt;
}

async function formatOf(database: Database, partner: string): Promise<Format> {
  const catalog = new ChannelCatalog(database);
  await catalog.load();
  const topic = topicFor(orderRequest, partner);
  const format = catalog.find(topic)?.format;
  if (!format)
    throw new AppError('channel-unknown', `${partner} has no channel ${topic}.`, {
      hint: `Run "parley partner add ${partner}".`,
    });
  return format;
}

const MECHANISMS = { plain: 'PLAIN', 'scram-sha-256': 'SCRAM-SHA-256', 'scram-sha-512': 'SCRAM-SHA-512' } as const;

/** Under Parley's own account: it may write what the company writes and read what the partner does. */
function accessOf(config: Config): Access {
  const { kafkaBrokers, kafkaSsl, kafkaCaFile, kafkaCertFile, kafkaKeyFile, kafkaSaslMechanism: mechanism } = config;
  if (kafkaBrokers.length === 0) {
    const hint = 'Set KAFKA_BROKERS: only what is done for notifications alone does without.';
    throw new NonRetriableError('broker-unreachable', 'No broker is named to certify at.', { hint });
  }
  const own = kafkaCertFile && kafkaKeyFile ? { cert: kafkaCertFile, key: kafkaKeyFile } : {};
  return {
    brokers: [...kafkaBrokers],
    tls: kafkaSsl ? { ...(kafkaCaFile ? { ca: kafkaCaFile } : {}), ...own } : undefined,
    account:
      mechanism === ''
        ? undefined
        : {
            mechanism: MECHANISMS[mechanism],
            credentials: () => ({ username: config.kafkaSaslUsername, password: config.kafkaSaslPassword }),
          },
    registry: config.schemaRegistryUrls.length > 0 ? config : undefined,
  };
}
