import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

/** Somebody's system that is told by webhook: what came, and whether its signature holds. */
export class Hook {
  received = [];
  /** As told once to whoever registered it. */
  secret = undefined;
  /** What becomes of the next one: undefined, `refused` (for now), `unanswered` (kept, and the connection ends). */
  fate = () => undefined;

  async start() {
    this.server = createServer((request, response) => {
      void text(request).then((body) => {
        const fate = this.fate();
        if (fate === 'refused') return response.writeHead(503).end();
        this.received.push({ id: request.headers['webhook-id'], headers: request.headers, body });
        if (fate === 'unanswered') return response.destroy();
        response.writeHead(204).end();
      });
    });
    await once(this.server.listen(0, '127.0.0.1'), 'listening');
    return this;
  }

  get url() {
    return `http://127.0.0.1:${this.server.address().port}/parley`;
  }

  /** By another's implementation of Standard Webhooks; undefined: the signature holds, otherwise what is wrong. */
  fault({ headers, body }) {
    try {
      new Webhook(this.secret).verify(body, headers);
      return undefined;
    } catch (error) {
      return error.message;
    }
  }

  async stop() {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
