import { type AnyContract, CONTRACTS, contractsOn, subjectFor } from '../../contracts';
import { AppError, messageOf } from '../../platform/errors';
import { backoffMs, sleep } from '../../platform/polling';
import type { Logger } from '../../platform/telemetry';
import type { Channel, ChannelCatalog } from '../channels';
import { RegistryUnavailable, type SchemaRegistry } from '../registry';
import type { Outbox } from './outbox';

/** How often new channels are looked for, and first and longest pause while something is missing, ms. */
export interface WarmUpTimes {
  every: number;
  retry: { initialMs: number; maxMs: number };
}

const TIMES: WarmUpTimes = { every: 60_000, retry: { initialMs: 500, maxMs: 10_000 } };

interface Document {
  contract: AnyContract;
  channel: Channel;
}

/**
 * Makes {@link Outbox.ready} every document that we write, for every partner, in the background: a registry that goes away
 * later then changes nothing for what we send.
 */
export class WarmUp {
  private findings: string[] = [];

  constructor(
    private readonly outbox: Outbox,
    private readonly channels: ChannelCatalog,
    private readonly registry: SchemaRegistry | null,
    private readonly log: Logger,
    private readonly times: WarmUpTimes = TIMES,
    private readonly contracts: readonly AnyContract[] = CONTRACTS,
  ) {}

  /** What is wrong with the registry, or which documents could not be sent now; undefined when all is well. */
  get trouble(): string | undefined {
    const [first, ...more] = this.findings;
    return this.registry?.trouble ?? (more.length === 0 ? first : `${first} (and ${more.length} more)`);
  }

  /** Until the signal aborts; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted;) {
      this.tell(await this.pass(signal));
      failures = this.findings.length > 0 ? failures + 1 : 0;
      await sleep(failures > 0 ? backoffMs(this.times.retry, failures) : this.times.every, signal);
    }
  }

  private async pass(signal: AbortSignal): Promise<string[]> {
    const findings: string[] = [];
    for (const { contract, channel } of this.documents()) {
      if (signal.aborted) break;
      try {
        await this.outbox.ready(contract, channel.partner);
      } catch (error) {
        // It is away for all of them.
        if (error instanceof RegistryUnavailable) return [messageOf(error)];
        const hint = error instanceof AppError && error.hint ? ` ${error.hint}` : '';
        findings.push(`${contract.name} for ${channel.partner}: ${messageOf(error)}${hint}`);
      }
    }
    await this.look();
    return findings;
  }

  /** What is warm needs no call, and trouble that a look-up had would stand for ever: somebody has to ask again. */
  private async look(): Promise<void> {
    if (this.registry?.trouble === undefined) return;
    const [some] = this.documents();
    if (some) await this.registry.version(subjectFor(some.contract, some.channel.topic), 1).catch(() => undefined);
  }

  private documents(): Document[] {
    const outbound = this.channels.all().filter(({ direction, format }) => direction === 'out' && format !== 'json');
    return outbound.flatMap((channel) =>
      contractsOn(this.contracts, channel.topic, channel.partner).map((contract) => ({ contract, channel })),
    );
  }

  private tell(findings: string[]): void {
    for (const finding of findings) {
      // Said once, not with every try.
      if (!this.findings.includes(finding)) this.log.warn({ code: 'schema-not-ready' }, finding);
    }
    if (this.findings.length > 0 && findings.length === 0) this.log.info('the schemas of all documents are ready');
    this.findings = findings;
  }
}
