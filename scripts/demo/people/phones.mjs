import { once } from 'node:events';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';

const TOKEN = 'for-this-demo-only';
const ACCEPTED = {
  groupId: 1,
  groupName: 'PENDING',
  id: 26,
  name: 'PENDING_ACCEPTED',
  description: 'Message accepted',
};

/**
 * An SMS provider on this machine that speaks the part of Infobip's API that Parley asks for. It sends whatever it is asked to, a second time too:
 * ids mean nothing to it, except that its log knows them.
 */
export class Phones {
  /** Every SMS that went out. */
  sent = [];
  lookUps = 0;
  /** Asked with the number before it says that it has an SMS. */
  hold = async () => undefined;

  async start() {
    this.server = createServer((request, response) => {
      this.serve(request, response).catch(() => response.destroy());
    });
    await once(this.server.listen(0, '127.0.0.1'), 'listening');
    return this;
  }

  /** Of a Parley that sends through it. */
  get env() {
    return { SMS_URL: `http://127.0.0.1:${this.server.address().port}`, SMS_TOKEN: TOKEN, SMS_FROM: 'Parley' };
  }

  async serve(request, response) {
    const answer = (status, body) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    const { method, headers, url } = request;
    const { pathname, searchParams } = new URL(url, 'http://phones');
    if (headers.authorization !== `App ${TOKEN}`)
      return answer(401, { errorCode: 'E401', description: 'Invalid token' });
    if (method === 'GET' && pathname === '/sms/3/logs') {
      this.lookUps++;
      const wanted = this.sent.filter(({ id }) => id === searchParams.get('messageId'));
      return answer(200, { results: wanted.map(({ id }) => ({ messageId: id, status: ACCEPTED })) });
    }
    const [{ destinations, content }] = (await json(request)).messages;
    const [{ to, messageId }] = destinations;
    this.sent.push({ id: messageId, to: `+${to}`, text: content.text });
    await this.hold(`+${to}`, messageId);
    return answer(200, { messages: [{ messageId, status: ACCEPTED, destination: to }] });
  }

  async stop() {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
