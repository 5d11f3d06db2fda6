import { Agent } from 'undici';
import { messageOf } from '../../platform/errors';
import { retryAfterMs } from '../../platform/polling';
import { phoneNumberOf, withoutAddress } from './addresses';
import { exchange, type HttpExchange, type HttpRequest } from './http-exchange';
import type { Letter, LookUpOutcome, Provider, SendOutcome } from './provider';
import type { SmsAnswer, SmsApi } from './sms-api';

export interface SmsLimits {
  perSecond: number;
  timeoutMs: number;
  /** Most at once. */
  connections: number;
}

/** Talks to an SMS provider over HTTP, and takes numbers out of what it says. */
export class SmsProvider implements Provider {
  readonly channel = 'sms';
  readonly remembersMs: number;
  readonly timeoutMs: number;
  readonly perSecond: number;
  private readonly agent: Agent;

  constructor(
    private readonly api: SmsApi,
    { perSecond, timeoutMs, connections }: SmsLimits,
  ) {
    this.remembersMs = api.remembersMs;
    [this.perSecond, this.timeoutMs] = [perSecond, timeoutMs];
    // A connection for each request: one that was kept may be closed by the server as we write, and then nobody knows what was read.
    this.agent = new Agent({ pipelining: 0, allowH2: false, connections, connect: { timeout: timeoutMs } });
  }

  async send(letter: Letter, signal: AbortSignal): Promise<SendOutcome> {
    const to = phoneNumberOf(letter.address);
    if (to === undefined) {
      const detail = 'The number is not one of E.164: a plus, the country, the number.';
      return { kind: 'refused', code: 'address-malformed', detail, badAddress: true };
    }
    const { content } = letter;
    if (content.channel !== 'sms')
      return { kind: 'refused', code: 'content-mismatch', detail: 'Its content is not that of an SMS.' };
    const result = await this.ask(() => this.api.sending(letter, to, content.text), signal);
    const outcome = result.kind === 'answered' ? this.api.outcome(answerOf(result)) : ofFailure(result);
    return cleaned(outcome, letter);
  }

  async lookUp(letter: Letter, signal: AbortSignal): Promise<LookUpOutcome> {
    const result = await this.ask(() => this.api.lookingUp(letter), signal);
    if (result.kind === 'failed') {
      // Not reached, it could not send either. A log that is slow says nothing.
      const fault = !result.written && !signal.aborted && ({ fault: true } as const);
      const detail = messageOf(result.error);
      return cleaned({ kind: 'unavailable', code: 'sms-log-unavailable', detail, ...fault }, letter);
    }
    return cleaned(this.api.lookedUp(answerOf(result), letter, new Date()), letter);
  }

  async close(): Promise<void> {
    await this.agent.destroy();
  }

  private async ask(request: () => HttpRequest, signal: AbortSignal): Promise<HttpExchange> {
    try {
      const deadline = AbortSignal.timeout(this.timeoutMs);
      return await exchange(this.agent, request(), AbortSignal.any([signal, deadline]));
    } catch (error) {
      return { kind: 'failed', written: false, error: error as Error };
    }
  }
}

function answerOf({ status, headers, body, complete }: HttpExchange & { kind: 'answered' }): SmsAnswer {
  return { status, json: complete ? parsed(body) : undefined, retryAfterMs: retryAfterMs(headers['retry-after']) };
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** Not a byte was written: certainly not sent. Otherwise only the provider knows. */
function ofFailure({ written, error }: HttpExchange & { kind: 'failed' }): SendOutcome {
  const detail = messageOf(error);
  if (written) return { kind: 'unknown', code: 'sms-no-answer', detail: `It was asked, and did not answer: ${detail}` };
  return { kind: 'later', code: 'sms-unreachable', detail: `It was not reached: ${detail}`, fault: true };
}

const cleaned = <T extends object>(outcome: T, { address }: Letter): T =>
  'detail' in outcome && typeof outcome.detail === 'string'
    ? { ...outcome, detail: withoutAddress(outcome.detail, address) }
    : outcome;
