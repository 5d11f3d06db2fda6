import { type Channel, ChannelCatalog, SchemaUse } from '../../messaging/channels';
import type { Quota } from '../../messaging/kafka';
import { lastSent } from '../../messaging/outbox';
import type { Database } from '../../platform/database';
import { NonRetriableError } from '../../platform/errors';
import { decodeCursor, type Page, pageOf } from '../../platform/http';
import { type Caller, mayPartner } from '../../staff';
import type { Account } from '../accounts/account';
import { Accounts } from '../accounts/accounts';
import { specOfPartner } from '../onboarding/account-rights';
import { quotaOf } from '../onboarding/domain/rights';
import type { Partner } from '../partner.entity';
import { COLUMNS } from '../partners';

/** What a partner's system showed when it was last tried. */
export interface LastCertification {
  partner: string;
  suite: string;
  passed: boolean;
  /** Names of scenarios, once for each run. */
  failed: string[];
  skipped: string[];
  /** Where it was tried; null: kept before this was. */
  brokers: string[] | null;
  ranAt: Date;
  ranBy: string;
  expiresAt: Date;
}

export interface ListedPartner extends Partner {
  accounts: Account[];
  certification: LastCertification | null;
}

export interface ShownPartner extends ListedPartner {
  channels: Channel[];
  /** As onboarding applied them last; null for a partner that was not onboarded. */
  quota: Quota | null;
  lastSentAt: Date | null;
  lastReceivedAt: Date | null;
}

const CURSOR = [/^[a-z][a-z0-9-]{0,31}$/] as const;

/** Partners for people: what they are, how they come in, when they last spoke. */
export class PartnerDirectory {
  private readonly accounts: Accounts;

  constructor(private readonly database: Database) {
    this.accounts = new Accounts(database);
  }

  /** By id. Throws `cursor-invalid`. */
  async page({ partners }: Pick<Caller, 'partners'>, limit: number, cursor?: string): Promise<Page<ListedPartner>> {
    const [after] = cursor === undefined ? [''] : decodeCursor(cursor, CURSOR);
    const found = await this.database.query<Partner>(
      `SELECT ${COLUMNS} FROM partner
       WHERE id > :after AND (:partners::text[] IS NULL OR id = ANY(:partners::text[])) ORDER BY id LIMIT :rows`,
      { after, partners, rows: limit + 1 },
    );
    const { items, nextCursor } = pageOf(found, limit, (last) => [last.id]);
    return { items: await this.withAccounts(items), nextCursor };
  }

  /** Throws `partner-not-found`. */
  async find(caller: Pick<Caller, 'partners'>, id: string): Promise<ShownPartner> {
    const { database } = this;
    const partner = await expectPartner(database, caller, id);
    const catalog = new ChannelCatalog(database);
    const [[listed], spec, sent, uses] = await Promise.all([
      this.withAccounts([partner]),
      specOfPartner(database, id),
      lastSent(database),
      SchemaUse.list(database),
      catalog.load(),
    ]);
    const heard = uses.filter((use) => use.partner === id).map(({ lastSeenAt }) => lastSeenAt.getTime());
    return {
      ...(listed as ListedPartner),
      channels: catalog
        .all()
        .filter((channel) => channel.partner === id)
        .toSorted((a, b) => a.topic.localeCompare(b.topic)),
      quota: spec ? quotaOf(spec) : null,
      lastSentAt: sent.find((one) => one.partner === id)?.at ?? null,
      lastReceivedAt: heard.length > 0 ? new Date(Math.max(...heard)) : null,
    };
  }

  private async withAccounts(partners: readonly Partner[]): Promise<ListedPartner[]> {
    const ids = partners.map(({ id }) => id);
    const [accounts, certifications] = await Promise.all([this.accounts.ofAll(ids), this.certifications(ids)]);
    return partners.map((partner) => ({
      ...partner,
      accounts: accounts.filter((account) => account.partner === partner.id),
      certification: certifications.find((one) => one.partner === partner.id) ?? null,
    }));
  }

  private certifications(partners: readonly string[]): Promise<LastCertification[]> {
    return this.database.query<LastCertification>(
      `SELECT DISTINCT ON (partner) partner, suite, passed, report -> 'brokers' AS brokers,
         jsonb_path_query_array(report, '$.results[*] ? (@.verdict == "failed").name') AS failed,
         jsonb_path_query_array(report, '$.results[*] ? (@.verdict == "skipped").name') AS skipped,
         ran_at AS "ranAt", ran_by AS "ranBy", expires_at AS "expiresAt"
       FROM partner_certification WHERE partner = ANY(:partners::text[]) ORDER BY partner, ran_at DESC`,
      { partners },
    );
  }
}

/** Throws `partner-not-found`, also for one that the caller is not to know of. */
export async function expectPartner(
  database: Database,
  caller: Pick<Caller, 'partners'>,
  id: string,
): Promise<Partner> {
  const [partner] = mayPartner(caller, id)
    ? await database.query<Partner>(`SELECT ${COLUMNS} FROM partner WHERE id = :id`, { id })
    : [];
  if (!partner) throw new NonRetriableError('partner-not-found', `There is no partner ${id}.`);
  return partner;
}
