import { type Database, query } from '../../platform/database';

export type ResourceKind = 'topic' | 'user' | 'acl' | 'quota' | 'subject';

/** Something at the broker or the registry that onboarding made, or is about to. */
export interface Resource {
  kind: ResourceKind;
  name: string;
}

/** What of the partner's is ours to change: all that was written down before it was made. */
export async function ownedBy(database: Pick<Database, 'query'>, partner: string): Promise<ReadonlySet<string>> {
  const rows = await database.query<Resource>('SELECT kind, name FROM partner_resource WHERE partner = :partner', {
    partner,
  });
  return new Set(rows.map(keyOf));
}

export const keyOf = ({ kind, name }: Resource): string => `${kind} ${name}`;

/** Writes down what is about to be made, in a transaction of its own: what a crash leaves half made is known to be ours. */
export async function own(
  database: Database,
  partner: string,
  resources: readonly Resource[],
  now: Date,
): Promise<void> {
  await database.transaction((tx) =>
    query(
      tx,
      `INSERT INTO partner_resource (partner, kind, name, created_at)
       SELECT :partner, k, n, :now::timestamptz FROM unnest(:kinds::text[], :names::text[]) u(k, n) ON CONFLICT DO NOTHING`,
      { partner, now, kinds: resources.map(({ kind }) => kind), names: resources.map(({ name }) => name) },
    ),
  );
}

/** Forgets what is no longer there: were it made again by somebody else, it would not be ours. */
export async function disown(database: Database, partner: string, resources: readonly Resource[]): Promise<void> {
  await database.transaction((tx) =>
    query(
      tx,
      `DELETE FROM partner_resource WHERE partner = :partner
       AND (kind, name) IN (SELECT k, n FROM unnest(:kinds::text[], :names::text[]) u(k, n))`,
      { partner, kinds: resources.map(({ kind }) => kind), names: resources.map(({ name }) => name) },
    ),
  );
}
