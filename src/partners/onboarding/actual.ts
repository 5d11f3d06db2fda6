import { ChannelCatalog, SchemaUse } from '../../messaging/channels';
import { planOf, type PublishStep, subjectsOf, survey } from '../../messaging/evolution';
import type { KafkaAdmin, Quota, SecurityAdmin } from '../../messaging/kafka';
import type { SchemaRegistry } from '../../messaging/registry';
import type { Database } from '../../platform/database';
import { type Account, Accounts, liveOf, type NewAccount, nextAccount } from '../accounts';
import type { Partner } from '../partner.entity';
import { specOfPartner } from './account-rights';
import type { DesiredTopic, NewChannel } from './desired';
import type { SecuritySeen, Taken } from './domain/security';
import type { ActualTopic } from './domain/topics';
import { ownedBy } from './owned';
import type { PartnerSpec } from './partner-spec';

/** What onboarding works with. Everything at the broker is done under the administrator's account. */
export interface OnboardingParts {
  database: Database;
  admin: KafkaAdmin;
  /** Undefined: options of topics that are there are left as they are. */
  security: SecurityAdmin | undefined;
  /** Undefined: the broker has no accounts, so there are none to make, nor rights and limits. */
  accounts: { username: string; consumerGroup: string } | undefined;
  /** Undefined: schemas are published by "parley contracts publish". */
  registry: SchemaRegistry | undefined;
  /** Topics, accounts, rights and limits are made by others (an operator, from git): here are only our own rows. */
  elsewhere?: boolean;
}

/** What is there of the partner, in the database, at the broker and in the registry. */
export interface Actual {
  partner: Pick<Partner, 'name'> | undefined;
  spec: PartnerSpec | undefined;
  owned: ReadonlySet<string>;
  channels: ReadonlyMap<string, NewChannel>;
  topics: ReadonlyMap<string, ActualTopic>;
  /** All of the partner, retired ones too. */
  accounts: readonly Account[];
  /** The account that has to be made. */
  next: NewAccount | undefined;
  nextIsTaken: Taken | undefined;
  /** The account of the file's certificate, where another has taken its place: the file is of before. */
  replaced: Account | undefined;
  security: SecuritySeen | undefined;
  subjects: readonly PublishStep[];
}

export async function lookAt(
  parts: OnboardingParts,
  spec: PartnerSpec,
  desired: { topics: readonly DesiredTopic[]; channels: readonly NewChannel[] },
): Promise<Actual> {
  const { database } = parts;
  const [partner] = await database.query<Pick<Partner, 'name'>>('SELECT name FROM partner WHERE id = :id', {
    id: spec.partner,
  });
  const catalog = new ChannelCatalog(database);
  await catalog.load();
  const own = catalog.all().filter((channel) => channel.partner === spec.partner);
  const accounts = await new Accounts(database).of(spec.partner);
  const coming = parts.accounts && (await comingAccount(database, spec, accounts));
  return {
    partner,
    spec: await specOfPartner(database, spec.partner),
    owned: await ownedBy(database, spec.partner),
    channels: new Map(own.map(({ id: _, ...channel }) => [channel.topic, channel])),
    topics: await topicsAt(parts, desired.topics),
    accounts,
    next: coming?.next,
    nextIsTaken: coming?.taken,
    replaced: coming?.next ? undefined : replacedOf(spec, accounts),
    security: await securityAt(parts, liveOf(accounts), coming?.next),
    subjects: await subjectsAt(parts, desired.channels),
  };
}

/** The account to make, looked at before any right is given to its name. */
export async function comingAccount(
  database: Pick<Database, 'query'>,
  spec: PartnerSpec,
  accounts: readonly Account[],
): Promise<{ next: NewAccount | undefined; taken: Taken | undefined }> {
  const next = missingAccount(spec, accounts);
  return { next, taken: next && (await takenBy(database, next)) };
}

/**
 * The account to make: none where new clients get one of the wanted kind. A certificate that was never known is another account; one that is known was
 * perhaps replaced since by a rotation, which a file of before must not take back.
 */
function missingAccount(
  { partner, authentication }: PartnerSpec,
  accounts: readonly Account[],
): NewAccount | undefined {
  const subject = authentication.type === 'tls' ? authentication.subject : undefined;
  const isKnown = subject === undefined || accounts.some((one) => one.username === subject && one.state !== 'creating');
  const isUsable = accounts.some(({ kind, state }) => kind === authentication.type && state === 'active');
  if (isUsable && isKnown) return undefined;
  return nextAccount(partner, accounts, subject);
}

const replacedOf = ({ authentication }: PartnerSpec, accounts: readonly Account[]): Account | undefined =>
  accounts.find(
    ({ kind, state, username }) =>
      authentication.type === 'tls' &&
      kind === 'tls' &&
      username === authentication.subject &&
      (state === 'retiring' || state === 'retired'),
  );

async function takenBy(database: Pick<Database, 'query'>, next: NewAccount): Promise<Taken | undefined> {
  const [row] = await database.query<Pick<Account, 'partner' | 'state'>>(
    'SELECT partner, state FROM partner_account WHERE username = :username',
    { username: next.username },
  );
  if (!row || (row.partner === next.partner && row.state === 'creating')) return undefined;
  if (row.partner === next.partner)
    return { why: `had its time (${row.state})`, hint: "Name the subject of this partner's newest certificate." };
  return {
    why: `belongs to the partner ${row.partner}`,
    hint: `A certificate is one partner's: name the subject of one that is ${next.partner}'s alone.`,
  };
}

async function topicsAt(
  { admin, security }: OnboardingParts,
  desired: readonly DesiredTopic[],
): Promise<ReadonlyMap<string, ActualTopic>> {
  const names = desired.map(({ topic }) => topic);
  const there = await admin.describeTopics(names);
  const optionNames = [...new Set(desired.flatMap(({ config }) => Object.keys(config)))];
  const options = await security?.topicOptions([...there.keys()], optionNames);
  return new Map(
    [...there].map(([topic, { partitions, replicas }]) => {
      const own = options?.get(topic);
      // A broker's default may change under a topic: only what the topic itself says counts as said.
      const said = own && Object.entries(own).flatMap(([name, { value, isOwn }]) => (isOwn ? [[name, value]] : []));
      return [topic, { partitions, replicas, options: said && (Object.fromEntries(said) as Record<string, string>) }];
    }),
  );
}

async function securityAt(
  { security, accounts: isGuarded }: OnboardingParts,
  live: readonly Account[],
  next: NewAccount | undefined,
): Promise<SecuritySeen | undefined> {
  if (!security || !isGuarded) return undefined;
  const usernames = [...new Set([...live, ...(next ? [next] : [])].map(({ username }) => username))];
  const quotas = new Map<string, Quota>();
  for (const username of usernames) quotas.set(username, await security.quota(username));
  return { acls: await security.acls(), users: await security.users(usernames), quotas };
}

async function subjectsAt(
  { database, registry }: OnboardingParts,
  channels: readonly NewChannel[],
): Promise<readonly PublishStep[]> {
  if (!registry) return [];
  const findings = await survey(registry, subjectsOf(channels), await SchemaUse.list(database));
  return planOf(findings).filter(({ action }) => action !== 'unchanged');
}
