import type { Clock } from '../../../platform/clock';
import type { Config } from '../../../platform/config';
import type { Database } from '../../../platform/database';
import type { Letter, Provider, SendOutcome } from '../provider';
import { GONE_CODE, outcomeOfAnswer, outcomeOfFailure } from './outcome';
import { post } from './post';
import { type Resolve, resolverOf } from './resolve';
import { signedHeaders } from './signature';
import type { Finding, WebhookDisabling } from './webhook-disabling';
import type { WebhookSecrets, WebhookTarget } from './webhook-secrets';
import { faultOfWebhookUrl } from './webhook-url';

export interface WebhookProviderOptions {
  /** Default: 15 s. */
  timeoutMs?: number;
  resolve?: Resolve;
}

type Keys = Pick<Config, 'webhookPerSecond' | 'webhookAllowedNetworks'>;

/**
 * Posts to receivers' own URLs, signed by Standard Webhooks. It goes to the URL that the receiver has now, under the secrets that are valid
 * now. A receiver that is told twice knows it by `webhook-id`; whether it remembers, nobody can know, and nobody can ask it.
 */
export class WebhookProvider implements Provider {
  readonly channel = 'webhook';
  readonly remembersMs = 0;
  readonly timeoutMs: number;
  private readonly resolve: Resolve;
  private readonly closing = new AbortController();

  constructor(
    private readonly database: Pick<Database, 'transaction'>,
    private readonly secrets: Pick<WebhookSecrets, 'target'>,
    private readonly disabling: Pick<WebhookDisabling, 'disable' | 'disableIfFailing'>,
    private readonly config: Keys,
    private readonly clock: Clock,
    { timeoutMs = 15_000, resolve = resolverOf() }: WebhookProviderOptions = {},
  ) {
    this.timeoutMs = timeoutMs;
    this.resolve = resolve;
  }

  /** To one receiver. */
  get perSecond(): number {
    return this.config.webhookPerSecond;
  }

  async send(letter: Letter, signal: AbortSignal): Promise<SendOutcome> {
    const now = this.clock.now();
    const time = {
      lease: AbortSignal.any([signal, this.closing.signal]),
      own: AbortSignal.timeout(this.timeoutMs),
    };
    const { receiver } = letter;
    let target: WebhookTarget | undefined;
    try {
      target = receiver === null ? undefined : await this.secrets.target(receiver, now);
    } catch {
      const detail = 'Its URL and secrets could not be read.';
      return { ...LATER, fault: false, ours: true, code: 'webhook-not-read', detail };
    }
    if (!target || receiver === null)
      return { kind: 'refused', code: 'webhook-absent', detail: 'The receiver has no webhook any more.' };
    const outcome = await this.deliver(letter, target, now, time);
    if (outcome.kind === 'unknown' || outcome.kind === 'later')
      await this.judge({ receiver, url: target.url, reason: outcome.detail }, outcome);
    return outcome;
  }

  private async deliver(
    { id, content }: Letter,
    { url, secrets }: WebhookTarget,
    now: Date,
    time: { lease: AbortSignal; own: AbortSignal },
  ): Promise<SendOutcome> {
    if (content.channel !== 'webhook')
      return { kind: 'refused', code: 'webhook-content', detail: `What is sent was made for ${content.channel}.` };
    if (secrets === 'sealed') return SEALED;
    const allowed = this.config.webhookAllowedNetworks;
    const wrong = faultOfWebhookUrl(url, allowed);
    if (wrong !== undefined) return { ...LATER, code: 'webhook-forbidden', detail: `Its URL ${wrong}.` };
    const { body } = content;
    const headers = {
      ...signedHeaders(id, now, Buffer.from(body), secrets),
      'content-type': 'application/json',
      'user-agent': 'Parley-Webhooks/1',
    };
    const route = { allowed, resolve: this.resolve, timeoutMs: this.timeoutMs };
    const ends = AbortSignal.any([time.lease, time.own]);
    const exchange = await post({ url: new URL(url), headers, body }, route, ends);
    return exchange.kind === 'answered'
      ? outcomeOfAnswer(exchange, this.clock.now())
      : outcomeOfFailure({ ...exchange, late: time.own.aborted, leaseEnds: time.lease.aborted });
  }

  /** Is it to be disabled? Where that can't be found out, the next failure tells. */
  private async judge(finding: Finding, outcome: SendOutcome & { kind: 'unknown' | 'later' }): Promise<void> {
    if (outcome.kind === 'later' && (!outcome.fault || outcome.ours)) return;
    const now = this.clock.now();
    const judge = outcome.code === GONE_CODE ? 'disable' : 'disableIfFailing';
    await this.database.transaction((tx) => this.disabling[judge](tx, finding, now)).catch(() => false);
  }

  close(): Promise<void> {
    this.closing.abort();
    return Promise.resolve();
  }
}

const LATER = { kind: 'later', fault: true } as const;

/** Keys are ours: that one is missing says nothing about who would be told. */
const SEALED = {
  ...LATER,
  ours: true,
  code: 'webhook-secret-sealed',
  detail:
    'No key of WEBHOOK_SECRET_KEYS opens its secret: put the key back that it was sealed under, or rotate the secret.',
} satisfies SendOutcome;
