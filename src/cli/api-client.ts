import { AppError, messageOf, type Violation } from '../platform/errors';

const DEFAULT_URL = 'http://127.0.0.1:3000';
const TIMEOUT_MS = 30_000;
const PAGE = 200;

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface ApiRequest {
  query?: Query;
  body?: unknown;
  /** `Idempotency-Key`, `If-Match`, `If-None-Match`. */
  headers?: Readonly<Record<string, string>>;
  /** How long the answer may take; default 30 s. */
  timeoutMs?: number;
}

export interface ApiAnswer<T> {
  status: number;
  body: T;
  etag: string | undefined;
  location: string | undefined;
}

interface Problem {
  title: string;
  detail: string;
  code: string;
  type: string;
  traceId: string;
  errors?: Violation[];
}

/** The REST API, as commands ask it: where and with which key the environment says, never an argument, which `ps` would show. */
export class ApiClient {
  private constructor(
    readonly baseUrl: URL,
    private readonly bearer: string,
    readonly isToken: boolean,
  ) {}

  /**
   * Of PARLEY_URL (default: this machine, port 3000), and PARLEY_TOKEN (an access token of the identity provider) or else
   * PARLEY_API_KEY. Throws AppError `unauthenticated`, `api-url-invalid`.
   */
  static fromEnvironment(env: NodeJS.ProcessEnv = process.env): ApiClient {
    // Who has just signed in means to act as that person, whatever key lies in the environment.
    const token = env['PARLEY_TOKEN']?.trim();
    const bearer = token || env['PARLEY_API_KEY']?.trim();
    if (!bearer) {
      throw new AppError('unauthenticated', 'The environment names no API key and no access token.', {
        hint: 'Set PARLEY_API_KEY; an administrator makes a key with: parley key create --name me --role support. Or set PARLEY_TOKEN to an access token of the identity provider.',
      });
    }
    const url = URL.parse(env['PARLEY_URL']?.trim() || DEFAULT_URL);
    // A password in the URL would go to logs; a path, where the API is not at the root of its host, is kept.
    if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search) {
      throw new AppError('api-url-invalid', 'PARLEY_URL is not the address of an API.', {
        hint: `Set it to http:// or https:// and host and port, such as ${DEFAULT_URL}.`,
      });
    }
    return new ApiClient(url, bearer, Boolean(token));
  }

  async get<T>(path: string, query: Query = {}): Promise<T> {
    return (await this.ask<T>('GET', path, { query })).body;
  }

  /** Throws what the API says as an AppError with its code; `api-unreachable` where nobody answers. */
  async ask<T>(method: string, path: string, request: ApiRequest = {}): Promise<ApiAnswer<T>> {
    const response = await this.send(method, path, request);
    const text = await response.text().catch((error: unknown) => this.unreachable(error));
    const body = parsed(text);
    if (response.status >= 400) throw refusal(response, body, this);
    if (text !== '' && body === undefined) throw this.stranger(response);
    return {
      status: response.status,
      body: body as T,
      etag: response.headers.get('etag') ?? undefined,
      location: response.headers.get('location') ?? undefined,
    };
  }

  /** What the API gives as bytes, or answers a body with; null where it has nothing. Throws as {@link ask} does. */
  async bytes(path: string, body?: unknown): Promise<Buffer | null> {
    const headers = { accept: 'application/octet-stream' };
    const response = await this.send(body === undefined ? 'GET' : 'POST', path, { headers, body });
    if (response.status >= 400) throw refusal(response, parsed(await response.text()), this);
    const bytes = await response.arrayBuffer().catch((error: unknown) => this.unreachable(error));
    return response.status === 204 ? null : Buffer.from(bytes);
  }

  /** Every item of a list, page by page. */
  async *all<T>(path: string, query: Query = {}): AsyncGenerator<T, void, undefined> {
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page: { items: T[]; nextCursor: string | null } = await this.get(path, { limit: PAGE, ...query, cursor });
      yield* page.items;
      cursor = page.nextCursor;
    }
  }

  private send(
    method: string,
    path: string,
    { query = {}, body, headers, timeoutMs = TIMEOUT_MS }: ApiRequest,
  ): Promise<Response> {
    const url = new URL(`${this.baseUrl.pathname.replace(/\/$/, '')}${path}`, this.baseUrl);
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) url.searchParams.set(name, String(value));
    const sent = body === undefined ? undefined : JSON.stringify(body);
    return fetch(url, {
      method,
      headers: {
        accept: 'application/json',
        authorization: `Bearer ${this.bearer}`,
        ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(sent === undefined ? {} : { body: sent }),
      // Another host must not be handed the key.
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    }).catch((error: unknown) => this.unreachable(error));
  }

  private unreachable(error: unknown): never {
    // fetch says "fetch failed", and why in its cause.
    const { cause = error } = (error ?? {}) as { cause?: unknown };
    throw new AppError('api-unreachable', `The API at ${this.baseUrl.origin} cannot be reached.`, {
      cause: new Error(messageOf(cause)),
      hint: 'Check PARLEY_URL and that Parley runs there with the role api.',
    });
  }

  private stranger(response: Response): AppError {
    return new AppError('api-unreachable', `What answers at ${this.baseUrl.origin} is not Parley's API.`, {
      cause: new Error(`status ${response.status}, ${response.headers.get('content-type') ?? 'no content type'}`),
      hint: 'Check PARLEY_URL.',
    });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

type Asked = { readonly baseUrl: URL; readonly isToken: boolean };

/** The problem as a command's error: its title, its detail as the cause, what to do next. */
function refusal(response: Response, body: unknown, { baseUrl, isToken }: Asked): AppError {
  const { title, detail, code, type, traceId, errors = [] } = (body ?? {}) as Partial<Problem>;
  if (code === undefined || title === undefined) {
    return new AppError('api-unreachable', `The API at ${baseUrl.origin} answered ${response.status}.`, {
      hint: 'Check PARLEY_URL: what answers there is not Parley.',
    });
  }
  const where = errors.map((error) => `${error.pointer} ${error.detail}`);
  const cause = [detail, ...where.filter((text) => !detail?.includes(text))].filter(Boolean).join(' ');
  return new AppError(code, `${title}.`, {
    retriable: response.status >= 500,
    cause: new Error(cause),
    violations: errors,
    hint: response.status === 401 ? signInAgain(isToken) : nextOf(response, type, traceId, baseUrl),
  });
}

const signInAgain = (isToken: boolean): string =>
  isToken
    ? 'Set PARLEY_TOKEN to a new access token (they end within minutes), or unset it to use PARLEY_API_KEY.'
    : 'Set PARLEY_API_KEY to a valid key; an administrator makes one with "parley key create".';

function nextOf(response: Response, type: string | undefined, traceId: string | undefined, baseUrl: URL): string {
  const after = response.headers.get('retry-after');
  if (response.status === 500) return `Tell the operator the trace id ${traceId}.`;
  if (after !== null) return `Try again in ${after} s.`;
  return `See ${new URL(type ?? '/docs', baseUrl).href}`;
}
