import type { Dispatcher } from 'undici';

/** Larger answers are cut there: what a provider says to us is short. */
const MAX_ANSWER_BYTES = 64 * 1024;

export interface HttpRequest {
  method: 'GET' | 'POST';
  url: URL;
  headers: Record<string, string>;
  body?: string;
  /** Default: 64 KiB. */
  mostAnswerBytes?: number;
}

export type HttpExchange =
  /** `complete`: nothing of its body is missing. */
  | {
      kind: 'answered';
      status: number;
      headers: Record<string, string | string[] | undefined>;
      body: string;
      complete: boolean;
    }
  /** `written`: a part of the request may have reached the server. Otherwise not a byte of it did, and none will. */
  | { kind: 'failed'; written: boolean; error: Error };

/**
 * One request and its answer; redirects are not followed, nothing is tried again. Resolves whatever happens, as soon as the signal aborts.
 * What decides about `written` is undici's call before it hands the request to a connected socket (TLS done): what is aborted until
 * then is never written, also when the connection comes up later.
 */
export function exchange(dispatcher: Dispatcher, request: HttpRequest, signal: AbortSignal): Promise<HttpExchange> {
  return new Promise((resolve) => {
    const call = new Call(signal, resolve, request.mostAnswerBytes ?? MAX_ANSWER_BYTES);
    if (signal.aborted) return call.onAbort();
    signal.addEventListener('abort', call.onAbort, { once: true });
    const { url, method, headers, body = null } = request;
    try {
      dispatcher.dispatch({ origin: url.origin, path: `${url.pathname}${url.search}`, method, headers, body }, call);
    } catch (error) {
      call.fail(error as Error);
    }
  });
}

class Call implements Dispatcher.DispatchHandler {
  private stop: ((reason: Error) => void) | undefined;
  private status = 0;
  private headers: Record<string, string | string[] | undefined> = {};
  private readonly chunks: Buffer[] = [];
  private size = 0;

  constructor(
    private readonly signal: AbortSignal,
    private readonly resolve: (exchange: HttpExchange) => void,
    private readonly mostBytes: number,
  ) {}

  readonly onAbort = (): void => {
    const reason: unknown = this.signal.reason;
    const error = reason instanceof Error ? reason : new Error('aborted');
    // The answer first: what undici says to the abort must not take its place.
    this.fail(error);
    this.stop?.(error);
  };

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.signal.aborted) return controller.abort(new Error('aborted'));
    this.stop = (reason) => controller.abort(reason);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return;
    [this.status, this.headers] = [status, headers];
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.chunks.push(chunk.subarray(0, this.mostBytes - this.size));
    this.size += chunk.length;
    if (this.size <= this.mostBytes) return;
    this.answered(false);
    controller.abort(new Error('answer too large'));
  }

  onResponseEnd(): void {
    this.answered(true);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(error);
  }

  /** A status that has come counts, also without the rest. */
  fail(error: Error): void {
    if (this.status > 0) return this.answered(false);
    this.settle({ kind: 'failed', written: this.stop !== undefined, error });
  }

  private answered(complete: boolean): void {
    const body = Buffer.concat(this.chunks).toString('utf8');
    this.settle({ kind: 'answered', status: this.status, headers: this.headers, body, complete });
  }

  private settle(exchange: HttpExchange): void {
    this.signal.removeEventListener('abort', this.onAbort);
    this.resolve(exchange);
  }
}
