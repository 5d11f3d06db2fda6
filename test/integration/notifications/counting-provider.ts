import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Letter, LookUpOutcome, Provider, SendOutcome } from '../../../src/notifications/channels/provider';

/** How the provider behaves towards a request: status and headers, or `hang` (it has the message, and never answers). */
export type Behaviour = (id: string) => { status?: number; headers?: Record<string, string>; hang?: boolean };

/** Longer than any machine stands still: only what a test never answers ends by time, and {@link CountingProvider.breakOff} ends that. */
const PATIENT_MS = 30_000;

/** A provider over HTTP that counts what came to it and what had an effect, and can be asked about it. */
export class CountingProvider {
  readonly requests: string[] = [];
  readonly effects: string[] = [];
  readonly lookUps: string[] = [];
  behaviour: Behaviour = () => ({});
  /** In place of what it knows, to every question. */
  logStatus: number | undefined;
  /** Does it know our id again? */
  remembers = false;
  most = 0;
  private open = 0;
  private readonly server = createServer((request, response) => this.serve(request, response));

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  reset(): void {
    for (const list of [this.requests, this.effects, this.lookUps]) list.length = 0;
    [this.behaviour, this.remembers, this.most, this.logStatus] = [() => ({}), false, 0, undefined];
  }

  /** Ends what hangs: whoever asked never hears what became of it. */
  breakOff(): void {
    this.server.closeAllConnections();
  }

  async close(): Promise<void> {
    this.breakOff();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private serve(request: IncomingMessage, response: ServerResponse): void {
    const id = request.url?.split('/').at(-1) ?? '';
    if (request.method === 'GET') {
      this.lookUps.push(id);
      response.writeHead(this.logStatus ?? (this.effects.includes(id) ? 200 : 404)).end();
      return;
    }
    this.requests.push(id);
    this.most = Math.max(this.most, ++this.open);
    response.once('close', () => this.open--);
    const { status = 202, headers = {}, hang = false } = this.behaviour(id);
    if ((status < 300 || hang) && !(this.remembers && this.effects.includes(id))) this.effects.push(id);
    if (!hang) response.writeHead(status, headers).end();
  }
}

export interface ProviderOptions {
  remembersMs?: number;
  timeoutMs?: number;
  perSecond?: number;
  looksUp?: boolean;
}

/** Speaks to a {@link CountingProvider}. */
export function httpProvider(
  url: string,
  { remembersMs = 0, timeoutMs = PATIENT_MS, perSecond = 10_000, looksUp = true }: ProviderOptions = {},
): Provider {
  const ask = (method: string, { id }: Letter, signal: AbortSignal): Promise<Response> =>
    fetch(`${url}/messages/${id}`, { method, signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]) });
  const send = async (letter: Letter, signal: AbortSignal): Promise<SendOutcome> => {
    try {
      const { status, headers } = await ask('PUT', letter, signal);
      const said = { code: `http-${status}`, detail: `It answered ${status} about ${letter.address}.` };
      if (status < 300) return { kind: 'accepted', reference: `ref-${letter.id}` };
      if (status === 410) return { kind: 'refused', ...said, badAddress: true };
      if (status === 422) return { kind: 'later', ...said, fault: false };
      if (status < 500 && status !== 429) return { kind: 'refused', ...said };
      const retryAfter = headers.get('retry-after');
      return { kind: 'later', ...said, fault: true, ...(retryAfter && { retryAfterMs: Number(retryAfter) * 1000 }) };
    } catch (error) {
      if ((error as { cause?: { code?: string } }).cause?.code === 'ECONNREFUSED')
        return { kind: 'later', code: 'unreachable', detail: 'Nobody listens.', fault: true };
      return { kind: 'unknown', code: 'no-answer', detail: 'It did not answer.' };
    }
  };
  const lookUp = async (letter: Letter, signal: AbortSignal): Promise<LookUpOutcome> => {
    try {
      const { status } = await ask('GET', letter, signal);
      if (status === 403) return { kind: 'unavailable', code: 'no-log', detail: 'Its log may not be read.' };
      return status === 200 ? { kind: 'found' } : { kind: 'not-found' };
    } catch {
      return { kind: 'unavailable', code: 'no-answer', detail: 'It did not answer.' };
    }
  };
  const close = () => Promise.resolve();
  const limits = { remembersMs, timeoutMs, perSecond };
  return { channel: 'sms', ...limits, send, close, ...(looksUp && { lookUp }) };
}
