import { ChannelCatalog } from '../../messaging/channels';
import type { Acl, Quota, SecurityAdmin } from '../../messaging/kafka';
import type { Database } from '../../platform/database';
import { NonRetriableError } from '../../platform/errors';
import { principalOf } from '../accounts/account';
import { topicsOf } from './desired';
import { aclName, aclsOfAccount, furtherRights, quotaOf } from './domain/rights';
import { keyOf, own, ownedBy, type Resource } from './owned';
import type { PartnerSpec } from './partner-spec';

export interface Rights {
  acls: readonly Acl[];
  quota: Quota;
}

/** What the partner was last asked to be; undefined for one that no onboarding has finished. */
export async function specOfPartner(
  database: Pick<Database, 'query'>,
  partner: string,
): Promise<PartnerSpec | undefined> {
  const [row] = await database.query<{ spec: PartnerSpec }>('SELECT spec FROM partner_spec WHERE partner = :partner', {
    partner,
  });
  return row?.spec;
}

/** What another account of the partner may do, as its channels and its file say. Throws `partner-not-onboarded`. */
export async function rightsOfAccount(database: Database, partner: string, username: string): Promise<Rights> {
  const spec = await specOfPartner(database, partner);
  if (!spec) {
    throw new NonRetriableError('partner-not-onboarded', `What the partner ${partner} is to be was never stated.`, {
      hint: `Write it into a file and run "parley partner onboard ${partner} --file ${partner}.yaml".`,
    });
  }
  const catalog = new ChannelCatalog(database);
  await catalog.load();
  const topics = topicsOf(catalog.all().filter((channel) => channel.partner === partner));
  return { acls: aclsOfAccount(username, partner, topics), quota: quotaOf(spec) };
}

/**
 * Throws `account-foreign` where others let that name do more than the partner may: it is an application's, which would be given the partner's
 * limits, and lose its rights with it.
 */
export async function expectNobodys(
  { database, security }: { database: Database; security: SecurityAdmin },
  { partner, username }: { partner: string; username: string },
  { acls }: Rights,
): Promise<void> {
  const owned = await ownedBy(database, partner);
  const seen = await security.acls({ principal: principalOf(username) });
  const further = furtherRights(seen, acls, (name) => owned.has(keyOf({ kind: 'acl', name })));
  if (further.length === 0) return;
  throw new NonRetriableError(
    'account-foreign',
    `${username} may already do what no partner may, and so is somebody else's: ${further.join(', ')}.`,
    {
      hint: `Name the subject of the partner's certificate. If it is this one, take those rights away until it counts: kafka-acls.sh --list --principal User:${username}`,
    },
  );
}

/**
 * Gives them to the account; each is written down as ours before. What others gave it stays theirs: such a right is not taken away with the account,
 * such a limit neither changed nor ended. Callers hold the partner's lock.
 */
export async function giveRights(
  { database, security, now }: { database: Database; security: SecurityAdmin; now: Date },
  { partner, username }: { partner: string; username: string },
  { acls, quota }: Rights,
): Promise<void> {
  const there = new Set((await security.acls({ principal: principalOf(username) })).map(aclName));
  const missing = acls.filter((acl) => !there.has(aclName(acl)));
  const owned = await ownedBy(database, partner);
  const limit: Resource = { kind: 'quota', name: username };
  const isOurs = owned.has(keyOf(limit)) || Object.keys(await security.quota(username)).length === 0;
  const resources = missing.map((acl): Resource => ({ kind: 'acl', name: aclName(acl) }));
  await own(database, partner, [...resources, ...(isOurs ? [limit] : [])], now);
  if (missing.length > 0) await security.addAcls(missing);
  if (isOurs) await security.putQuota(username, quota);
}
