import { randomBytes } from 'node:crypto';
import type { Config } from '../../../platform/config';
import { type Database, query, type Tx } from '../../../platform/database';
import { NonRetriableError } from '../../../platform/errors';
import { seal, SEALED_BEGINNING_BYTES, sealedBeginning, sealingKeysOf, unseal } from './seal';

/** As Standard Webhooks writes it (24 to 64 bytes). */
const SECRET_BYTES = 32;
/** The newest, and those that sign beside it for a while: each is one more signature in every request. */
const MOST_SECRETS = 3;
export const DEFAULT_VALID_HOURS = 24;
/** Most that one sweep seals anew. */
const RESEAL_PAGE = 500;

/** A secret, as it is told once. */
export interface NewWebhookSecret {
  number: number;
  /** `whsec_…` */
  secret: string;
}

/** Where a receiver's webhook goes at present, and what it is signed with. */
export interface WebhookTarget {
  url: string;
  /** The newest first; `sealed`: no key opens the newest. */
  secrets: readonly Buffer[] | 'sealed';
}

/** Secrets of webhooks: made here, told once, kept sealed under a key that is not in the database. */
export class WebhookSecrets {
  /** @param config is asked for its keys each time, since they may stand in a file that changes */
  constructor(
    private readonly database: Pick<Database, 'query' | 'transaction'>,
    private readonly config: Pick<Config, 'webhookSecretKeys'>,
  ) {}

  /**
   * Makes a new secret, which signs from now on; those before it sign beside it for `validHours` more (or as long as they had), 0: no
   * longer. Takes the receiver's row. Throws NonRetriableError `webhooks-unconfigured`, `webhook-absent`, or `webhook-secrets-full` while
   * three would be valid at once.
   */
  async rotate(
    tx: Tx,
    receiver: string,
    { validHours = DEFAULT_VALID_HOURS }: { validHours?: number | undefined },
    now: Date,
  ): Promise<NewWebhookSecret> {
    const key = this.sealingKey();
    const number = await lastNumber(tx, receiver);
    await query(
      tx,
      `UPDATE webhook_secret SET valid_until = least(valid_until, :until::timestamptz) WHERE receiver = :receiver`,
      { receiver, until: new Date(now.getTime() + validHours * 3_600_000) },
    );
    await query(tx, `DELETE FROM webhook_secret WHERE receiver = :receiver AND valid_until <= :now`, { receiver, now });
    const secret = randomBytes(SECRET_BYTES);
    const place = { receiver, number: number + 1 };
    const made = await query(
      tx,
      `INSERT INTO webhook_secret (receiver, number, sealed, created_at)
       SELECT :receiver, :number::int, :sealed::bytea, :now::timestamptz
       WHERE (SELECT count(*) FROM webhook_secret WHERE receiver = :receiver) < :most::int
       RETURNING number`,
      { ...place, sealed: seal(secret, key, place), now, most: MOST_SECRETS },
    );
    if (made.length === 0) throw secretsFull();
    return { number: place.number, secret: `whsec_${secret.toString('base64')}` };
  }

  /** The first secret of a receiver; undefined: it has one. Throws as {@link rotate} does. */
  async first(tx: Tx, receiver: string, now: Date): Promise<NewWebhookSecret | undefined> {
    this.sealingKey();
    return (await lastNumber(tx, receiver)) > 0 ? undefined : this.rotate(tx, receiver, {}, now);
  }

  /** Undefined: the receiver has no webhook, or is no more. */
  async target(receiver: string, now: Date): Promise<WebhookTarget | undefined> {
    const rows = await this.database.query<{ url: string | null; number: number | null; sealed: Buffer }>(
      `SELECT r.webhook_url AS url, s.number, s.sealed FROM notification_receiver r
       LEFT JOIN webhook_secret s ON s.receiver = r.id AND (s.valid_until IS NULL OR s.valid_until > :now)
       WHERE r.id = :receiver ORDER BY s.number DESC`,
      { receiver, now },
    );
    const url = rows[0]?.url;
    if (url == null) return undefined;
    const keys = sealingKeysOf(this.config.webhookSecretKeys);
    const opened = rows.map(({ number, sealed }) =>
      number === null ? undefined : unseal(sealed, keys, { receiver, number }),
    );
    // An older one that does not open is left out: who has the newest verifies, and the newest is what everybody was told to take.
    return { url, secrets: opened[0] === undefined ? 'sealed' : opened.filter((secret) => secret !== undefined) };
  }

  /** Deletes what signs no longer, and seals under the first key what another one sealed. */
  async sweep(now: Date): Promise<void> {
    const keys = sealingKeysOf(this.config.webhookSecretKeys);
    await this.database.transaction(async (tx) => {
      await query(tx, `DELETE FROM webhook_secret WHERE valid_until <= :now`, { now });
      await reseal(tx, keys);
    });
  }

  private sealingKey(): Buffer {
    const [key] = sealingKeysOf(this.config.webhookSecretKeys);
    if (key) return key;
    throw new NonRetriableError(
      'webhooks-unconfigured',
      'There is no key under which the secret of a webhook could be kept.',
      {
        hint: 'Set WEBHOOK_SECRET_KEYS; "openssl rand -base64 32" makes one.',
      },
    );
  }
}

/** The highest number that a secret of this receiver has, 0 without any; with the lock of the receiver's row. */
async function lastNumber(tx: Tx, receiver: string): Promise<number> {
  const [row] = await query<{ url: string | null }>(
    tx,
    `SELECT webhook_url AS url FROM notification_receiver WHERE id = :receiver FOR NO KEY UPDATE`,
    { receiver },
  );
  if (row?.url == null)
    throw new NonRetriableError('webhook-absent', `The receiver "${receiver}" has no webhook to sign for.`);
  // In a later statement than the lock: what another rotation wrote meanwhile is seen.
  const [last] = await query<{ number: number }>(
    tx,
    `SELECT coalesce(max(number), 0) AS number FROM webhook_secret WHERE receiver = :receiver`,
    { receiver },
  );
  return last?.number ?? 0;
}

async function reseal(tx: Tx, keys: readonly Buffer[]): Promise<void> {
  const [first, ...others] = keys;
  if (!first || others.length === 0) return;
  const rows = await query<{ receiver: string; number: number; sealed: Buffer }>(
    tx,
    `SELECT receiver, number, sealed FROM webhook_secret
     WHERE encode(substr(sealed, 1, ${SEALED_BEGINNING_BYTES}), 'hex') = ANY(:beginnings::text[])
     ORDER BY receiver, number LIMIT ${RESEAL_PAGE} FOR UPDATE SKIP LOCKED`,
    { beginnings: others.map((key) => sealedBeginning(key).toString('hex')) },
  );
  for (const { receiver, number, sealed } of rows) {
    const secret = unseal(sealed, keys, { receiver, number });
    // What was changed stays as it is, for whoever looks into it.
    if (secret)
      await query(
        tx,
        `UPDATE webhook_secret SET sealed = :sealed::bytea WHERE receiver = :receiver AND number = :number`,
        {
          receiver,
          number,
          sealed: seal(secret, first, { receiver, number }),
        },
      );
  }
}

const secretsFull = () =>
  new NonRetriableError(
    'webhook-secrets-full',
    `${MOST_SECRETS} secrets of this webhook would be valid beside the new one.`,
    {
      hint: 'Wait until an older one has ended, or let all of them end now (validHours 0).',
    },
  );
