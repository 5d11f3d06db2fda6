import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A message as it reached the provider. */
export interface ReceivedSms {
  messageId: string;
  /** As sent: digits, without a plus. */
  to: string;
  sender: string;
  text: string;
}

/**
 * What becomes of one request to send: `accept` sends it out; `answer` does not, and says this; `reject` answers 200 with a status of the
 * group REJECTED; `break` closes the connection without an answer, `hang` never answers, both after it was sent out or without.
 */
export type SmsBehaviour =
  | { kind: 'accept'; delayMs?: number }
  | { kind: 'answer'; status: number; body?: unknown; headers?: Record<string, string> }
  | { kind: 'reject'; status: string }
  | { kind: 'break' | 'hang'; sent: boolean };

interface LogRow {
  messageId: string;
  status: object;
}

const statusOf = (groupId: number, groupName: string, name: string) => ({
  ...{ groupId, groupName, id: groupId, name },
  description: `described: ${name}`,
});
const ACCEPTED = statusOf(1, 'PENDING', 'PENDING_ACCEPTED');
const rejected = (name: string) => statusOf(5, 'REJECTED', name);

/** A server with the part of Infobip's API that we speak (POST /sms/3/messages, GET /sms/3/logs), and switches. Counts survive whoever calls. */
export class SmsProviderServer {
  /** Every message that arrived, repeated and refused ones included. */
  readonly received: ReceivedSms[] = [];
  /** What went out to phones. */
  readonly sent: ReceivedSms[] = [];
  /** How often it was asked about a message. */
  lookUps = 0;
  /** A second message under an id that was sent out is not sent out again. */
  remembers = false;
  /** Its log can be read, and knows our ids; otherwise it answers 503. */
  canBeLookedUp = true;
  /** For requests without one in `next`. */
  behaviour: SmsBehaviour = { kind: 'accept' };
  /** For the coming requests, one each. */
  readonly next: SmsBehaviour[] = [];
  /** Before it answers that it has a message. */
  hold: (messageId: string) => Promise<void> = () => Promise.resolve();
  token = 'sms-test-token';

  private readonly log: LogRow[] = [];
  private constructor(private readonly server: Server) {}

  static async start(): Promise<SmsProviderServer> {
    const server = createServer();
    const provider = new SmsProviderServer(server);
    server.on('request', (request, response) => void provider.serve(request, response));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
    return provider;
  }

  /** For SMS_URL. */
  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Environment of a process that sends through it. */
  get env(): NodeJS.ProcessEnv {
    return { SMS_URL: this.url, SMS_TOKEN: this.token, SMS_FROM: 'Parley' };
  }

  /** How often a message went out to a phone. */
  sentTimes(messageId: string): number {
    return this.sent.filter((one) => one.messageId === messageId).length;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      return; // The caller went away in the middle.
    }
    if (request.headers.authorization !== `App ${this.token}`) {
      return answer(response, 401, { errorCode: 'E401', description: 'Invalid credentials' });
    }
    const url = new URL(request.url ?? '', this.url);
    if (request.method === 'GET' && url.pathname === '/sms/3/logs') return this.lookUp(url, response);
    if (request.method !== 'POST' || url.pathname !== '/sms/3/messages') {
      return answer(response, 404, { errorCode: 'E404', description: 'Requested URL not found' });
    }
    this.send(messageOf(Buffer.concat(chunks).toString()), response);
  }

  private send(message: ReceivedSms, response: ServerResponse): void {
    this.received.push(message);
    const behaviour = this.next.shift() ?? this.behaviour;
    if (behaviour.kind === 'answer') return answer(response, behaviour.status, behaviour.body, behaviour.headers);
    if (behaviour.kind === 'reject') return this.refuse(message, behaviour.status, response);
    const goesOut = behaviour.kind === 'accept' || behaviour.sent;
    if (goesOut && this.remembers && this.sentTimes(message.messageId) > 0) {
      this.log.push({ messageId: message.messageId, status: rejected('REJECTED_DUPLICATE_MESSAGE_ID') });
    } else if (goesOut) {
      this.sent.push(message);
      this.log.push({ messageId: message.messageId, status: ACCEPTED });
    }
    if (behaviour.kind === 'break') response.destroy();
    if (behaviour.kind !== 'accept') return;
    const reply = () => answer(response, 200, bodyOf(message, ACCEPTED));
    const answered = () => void this.hold(message.messageId).then(reply);
    if (behaviour.delayMs) setTimeout(answered, behaviour.delayMs).unref();
    else answered();
  }

  private refuse(message: ReceivedSms, name: string, response: ServerResponse): void {
    this.log.push({ messageId: message.messageId, status: rejected(name) });
    answer(response, 200, bodyOf(message, rejected(name)));
  }

  private lookUp(url: URL, response: ServerResponse): void {
    this.lookUps++;
    if (!this.canBeLookedUp) return answer(response, 503, { errorCode: 'E503', description: 'Service unavailable' });
    const id = url.searchParams.get('messageId');
    answer(response, 200, { results: this.log.filter(({ messageId }) => messageId === id) });
  }
}

function messageOf(body: string): ReceivedSms {
  const { messages } = JSON.parse(body) as {
    messages: [{ sender: string; destinations: [{ to: string; messageId: string }]; content: { text: string } }];
  };
  const [{ sender, destinations, content }] = messages;
  return { ...destinations[0], sender, text: content.text };
}

const bodyOf = ({ messageId, to }: ReceivedSms, status: object) => ({
  bulkId: 'bulk-1',
  messages: [{ messageId, status, destination: to, details: { messageCount: 1 } }],
});

function answer(
  response: ServerResponse,
  status: number,
  body: unknown = {},
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}
