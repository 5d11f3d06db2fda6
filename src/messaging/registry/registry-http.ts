import { Agent, request, type Dispatcher } from 'undici';
import { AppError, messageOf, NonRetriableError } from '../../platform/errors';
import { backoffMs, retryAfterMs, sleep } from '../../platform/polling';
import { RegistryUnavailable } from './codec';
import { readProblem, UnsoundAnswer } from './registry-answer';
import { accessOf, type RegistryAccess, type RegistrySettings } from './registry-settings';
import { MAX_SCHEMA_BYTES } from './schema-text';

export interface Question<T> {
  method: 'GET' | 'POST' | 'PUT';
  /** Below the base URL, encoded. */
  path: string;
  body?: object;
  /** Throws {@link UnsoundAnswer} for what the API doesn't promise; the question is then asked again. */
  read: (answer: unknown) => T;
  /** What an answer that is larger than any schema means; default: unsound. */
  oversized?: () => Error;
}

const MEDIA_TYPE = 'application/vnd.schemaregistry.v1+json';
/** A text of the largest size whose every second character is escaped. */
export const MAX_ANSWER_BYTES = 2 * MAX_SCHEMA_BYTES + 64 * 1024;
/** Subject, version, schema, subject level: all other 404s don't come from the registry that we mean. */
const NO_SUCH = new Set([40401, 40402, 40403, 40408]);
/** How often every URL is asked, at most. */
const ROUNDS = 3;
const BACKOFF = { initialMs: 100, maxMs: 1000 };
const PATH_HINT =
  "Check the path in SCHEMA_REGISTRY_URLS: Confluent's API stands at the root, Apicurio's at /apis/ccompat/v7.";

/** One attempt failed and another may not. `message` completes "The schema registry …" and names no host. */
class AttemptFailed extends Error {
  constructor(
    message: string,
    readonly more: { hint?: string; retryAfterMs?: number; cause?: unknown } = {},
  ) {
    super(message, { cause: more.cause });
  }
}

/** Asks the registries in turn until one answers soundly. Credentials are in no error that leaves it. */
export class RegistryHttp {
  /** The one that answered last is asked first. */
  private preferred = 0;
  private fault: string | undefined;
  private closed = false;
  private readonly running = new Set<AbortController>();
  private readonly access: RegistryAccess;
  private readonly agent: Agent;

  constructor(settings: RegistrySettings) {
    this.access = accessOf(settings);
    const { ca, deadlineMs } = this.access;
    this.agent = new Agent({ connections: 8, connect: { timeout: deadlineMs, ...(ca ? { ca } : {}) } });
  }

  get trouble(): string | undefined {
    return this.fault;
  }

  /** Resolves to undefined when the registry says that there is no such thing. */
  async ask<T>(question: Question<T>): Promise<T | undefined> {
    const { urls, deadlineMs } = this.access;
    const until = performance.now() + 2 * deadlineMs;
    let failure = new AttemptFailed('is closed');
    let at = this.preferred;
    for (let round = 1; round <= ROUNDS && !this.closed; round++) {
      let pauseMs = backoffMs(BACKOFF, round);
      for (let tried = 0; tried < urls.length && performance.now() < until; tried++) {
        const limitMs = Math.min(deadlineMs, until - performance.now());
        try {
          const answer = await this.attempt(at, question, limitMs);
          this.preferred = at;
          this.fault = undefined;
          return answer;
        } catch (error) {
          failure = this.judged(error, at);
          pauseMs = Math.max(pauseMs, failure.more.retryAfterMs ?? 0);
          // What was left of a call's time is no measure of the URL: the next call asks it first.
          at = limitMs < deadlineMs ? (at + 1) % urls.length : this.skip(at);
        }
      }
      if (round === ROUNDS || performance.now() + pauseMs >= until || this.closed) break;
      await this.pause(pauseMs);
    }
    throw this.unavailable(failure);
  }

  /** Ends what runs: its callers get RegistryUnavailable. */
  async close(): Promise<void> {
    this.closed = true;
    for (const controller of this.running) controller.abort(new AttemptFailed('is closed'));
    await this.agent.destroy();
  }

  private async attempt<T>(at: number, question: Question<T>, limitMs: number): Promise<T | undefined> {
    const { urls, authorization } = this.access;
    return this.bounded(limitMs, async (signal) => {
      const answer = await request(`${urls[at]}${question.path}`, {
        method: question.method,
        dispatcher: this.agent,
        signal,
        headers: {
          accept: MEDIA_TYPE,
          // Confluent Cloud leaves out what older clients don't know, the guid among it.
          'confluent-accept-unknown-properties': 'true',
          ...(authorization ? { authorization } : {}),
          ...(question.body ? { 'content-type': MEDIA_TYPE } : {}),
        },
        ...(question.body ? { body: JSON.stringify(question.body) } : {}),
      });
      const body = await jsonOf(answer);
      return this.answered(answer, body, question);
    });
  }

  private answered<T>(answer: Dispatcher.ResponseData, body: unknown, question: Question<T>): T | undefined {
    const { statusCode: status, headers } = answer;
    if (status >= 200 && status < 300) {
      if (body === OVERSIZED && question.oversized && isJson(headers)) throw question.oversized();
      return question.read(sound(body));
    }
    if (status === 401 || status === 403) throw this.credentialsRefused(status, question);
    const problem = readProblem(body);
    if (status === 404 && problem && NO_SUCH.has(problem.code)) return undefined;
    if (status === 408 || status === 429 || status >= 500) {
      throw new AttemptFailed(`answers HTTP ${status}`, { retryAfterMs: retryAfterMs(headers['retry-after']) });
    }
    if (status < 400) throw new AttemptFailed('redirects, which is not followed', { hint: PATH_HINT });
    if (status === 404 || !problem) {
      throw new AttemptFailed(`answers HTTP ${status} without an error of its API`, { hint: PATH_HINT });
    }
    const reason = messageOf(this.access.redacted(problem.message), 2000) || `error ${problem.code}`;
    throw new NonRetriableError('registry-refused', `The schema registry refuses ${lineOf(question)}: ${reason}`);
  }

  private async bounded<T>(limitMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(new AttemptFailed('does not answer in time')), limitMs);
    this.running.add(controller);
    try {
      return await work(controller.signal);
    } finally {
      clearTimeout(timer);
      this.running.delete(controller);
    }
  }

  private async pause(ms: number): Promise<void> {
    const controller = new AbortController();
    this.running.add(controller);
    await sleep(ms, controller.signal);
    this.running.delete(controller);
  }

  /** Calls that fail side by side must not skip a URL that none of them has asked. */
  private skip(at: number): number {
    const next = (at + 1) % this.access.urls.length;
    if (this.preferred === at) this.preferred = next;
    return next;
  }

  /** What may be tried again; anything else is thrown on. */
  private judged(error: unknown, at: number): AttemptFailed {
    if (error instanceof AppError) {
      throw error;
    }
    const where = `${new URL(this.access.urls[at] ?? '').origin}: `;
    if (error instanceof AttemptFailed) {
      return new AttemptFailed(error.message, { ...error.more, cause: new Error(`${where}${error.message}`) });
    }
    if (error instanceof UnsoundAnswer) {
      const said = `gives an answer that is not of its API: ${error.message}`;
      return new AttemptFailed(said, { hint: PATH_HINT, cause: new Error(`${where}${said}`) });
    }
    const code = codeOf(error);
    const detail = this.access.redacted(messageOf(error));
    return new AttemptFailed(`can't be reached${code ? ` (${code})` : ''}`, { cause: new Error(`${where}${detail}`) });
  }

  private unavailable(failure: AttemptFailed): RegistryUnavailable {
    this.fault = `the schema registry ${failure.message}`;
    const { hint, cause } = failure.more;
    return new RegistryUnavailable(`The schema registry ${failure.message}.`, { cause, ...(hint ? { hint } : {}) });
  }

  private credentialsRefused(status: 401 | 403, question: Question<unknown>): NonRetriableError {
    const what = status === 401 ? 'does not accept our credentials' : 'does not allow our account to do this';
    this.fault = `the schema registry ${what}`;
    return new NonRetriableError(
      'registry-refused',
      `The schema registry ${what}: ${lineOf(question)}, HTTP ${status}.`,
      {
        hint: 'Check SCHEMA_REGISTRY_USERNAME and SCHEMA_REGISTRY_PASSWORD or SCHEMA_REGISTRY_TOKEN, and the rights of that account.',
      },
    );
  }
}

/** `GET /subjects/orders-value/versions`. */
const lineOf = ({ method, path }: Question<unknown>): string =>
  `${method} ${decodeURIComponent(path.replace(/\?.*/, ''))}`;

/** `ECONNREFUSED`, `UND_ERR_SOCKET`, `DEPTH_ZERO_SELF_SIGNED_CERT`: says what happened and names no host. */
function codeOf(error: unknown): string | undefined {
  const { code } = Object(error) as { code?: unknown };
  return typeof code === 'string' ? code : undefined;
}

const OVERSIZED = Symbol('larger than any schema');
const UNREADABLE = Symbol('not JSON');

/** The body as JSON, read no further than {@link MAX_ANSWER_BYTES}. */
async function jsonOf({ body }: Dispatcher.ResponseData): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) return OVERSIZED;
    chunks.push(chunk);
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)));
  } catch {
    return UNREADABLE;
  }
}

function sound(body: unknown): unknown {
  if (body === OVERSIZED) throw new UnsoundAnswer(`it is larger than ${MAX_ANSWER_BYTES} bytes`);
  if (body === UNREADABLE) throw new UnsoundAnswer('it is not JSON');
  return body;
}

const isJson = (headers: Dispatcher.ResponseData['headers']): boolean => /json/.test(String(headers['content-type']));
