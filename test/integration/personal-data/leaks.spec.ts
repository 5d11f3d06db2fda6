import 'reflect-metadata';
import { CONTRACTS, despatchAdvice, orderRequest, personalTexts, topicFor } from '../../../src/contracts';
import { ROLES } from '../../../src/staff';
import { eventually } from '../../support/eventually';
import { readAll, uniqueName } from '../../support/kafka';
import { type CrawledApp, getsOf, startCrawled, valuesOf } from './crawled-app';
import { type RefusingMailServer, startRefusingMailServer, tellPeople } from './told';
import { tracesOf } from './traces';

const secrets = new Map<string, string>();
/** Something personal that stands nowhere else. */
const secret = (what: string, text = uniqueName(`Kim ${what}`)): string => {
  secrets.set(text, what);
  return text;
};
/** What of the secrets is found in a text, by name. */
const foundIn = (text: string): string[] =>
  [...secrets].flatMap(([value, what]) => (tracesOf(value).some((trace) => text.includes(trace)) ? [what] : []));

interface Letter {
  id: string;
  key: string;
  state: string;
  code: string;
  version: number;
}

describe('personal data', () => {
  let app: CrawledApp;
  let first: { orderNumber: string; correlationId: string };
  let mail: RefusingMailServer | undefined;
  /** Numbers of orders by what becomes of their despatch. */
  const orders: Record<string, string> = {};
  /** Whatever was answered to somebody who did not unmask. */
  const answers: string[] = [];

  const advice = (orderNumber: string, change: object) => ({
    ...{ orderNumber, despatchNumber: uniqueName('D'), issuedAt: '2026-03-01T10:00:00Z' },
    lines: [{ lineNumber: 1, quantity: '1' }],
    ...change,
  });
  const lettersOf = async (path = 'dead-letters?state=all') =>
    (await app.ask('support', `GET /v1/${path}&limit=200`)).json['items'] as Letter[];
  const letterOf = (what: string) =>
    eventually(async () => (await lettersOf()).find(({ key }) => key === orders[what]), {
      what: `the despatch "${what}" is a dead letter`,
    });

  /** Places and accepts an order, and sends a despatch of it. */
  async function despatched(what: string, document: (orderNumber: string) => unknown, headers = {}): Promise<void> {
    const order = await app.place({ name: secret(`contact of ${what}`) });
    orders[what] = order.orderNumber;
    await app.accept(order);
    await eventually(
      async () => (await app.ask('viewer', `GET /v1/orders/${order.orderNumber}`)).json['state'] === 'accepted',
      { what: `${order.orderNumber} is accepted` },
    );
    await app.despatch(order.orderNumber, document(order.orderNumber), headers);
  }

  beforeAll(async () => {
    mail = await startRefusingMailServer();
    app = await startCrawled(mail.env);
    const [name, email, phone] = ['name', 'email', 'phone'].map((what) => secret(`contact ${what}`));
    first = await app.place({ name, email, phone });
    await despatched('shipped', (of) => advice(of, { driver: { name: secret('driver'), phone: secret('phone') } }));
    await despatched('broken elsewhere', (of) => advice(of, { issuedAt: 'noon', driver: { name: secret('driver') } }));
    await despatched('broken there', (of) => advice(of, { driver: { name: secret('long').padEnd(101, '.') } }));
    await despatched('of another shape', (of) => advice(of, { driver: secret('text for an object') }));
    await despatched('unknown', (of) => advice(of, { issuedAt: 'x', buyer: { name: secret('unknown member') } }));
    await despatched('not JSON', (of) => `{"orderNumber":"${of}","driver":{"name":"${secret('unread').slice(0, -1)}`);
    // JSON takes a member twice: the last is read, and the first is in the bytes all the same.
    await despatched('twice', (of) => {
      const [text, last] = [JSON.stringify(advice(of, { issuedAt: 'x' })), '"driver":null}'];
      return `${text.slice(0, -1)},"driver":{"name":"${secret('first of two')}"},${last}`;
    });
    await despatched('headers', (of) => advice(of, { issuedAt: 'x' }), { 'x-clerk': secret('header') });
    await despatched('to be mended', (of) => advice(of, { issuedAt: 'x', driver: { name: secret('kept driver') } }));
    // Before its acceptance: it waits.
    const early = await app.place({ name: secret('early contact') });
    orders['early'] = early.orderNumber;
    await app.despatch(early.orderNumber, advice(early.orderNumber, { driver: { name: secret('early driver') } }));
    // Larger than its topic takes: the broker refuses it for good.
    orders['refused'] = (await app.place({ name: secret('never sent') }, 60)).orderNumber;
    for (const what of [
      'broken elsewhere',
      'broken there',
      'of another shape',
      'unknown',
      'not JSON',
      'twice',
      'headers',
      'to be mended',
    ])
      await letterOf(what);
    await eventually(async () => (await despatchNumberOf(app, orders['shipped'])) !== '', { what: 'one is applied' });
    await eventually(async () => (await lettersOf('parked?state=waiting')).some(({ key }) => key === orders['early']), {
      what: 'one waits',
    });
    await tellPeople(app, secret);
  }, 300_000);
  afterAll(async () => {
    await app?.running.lifecycle.stop('test');
    await app?.running.app.close();
    await mail?.close();
  });

  it('is what the partner reads, and what its dead letter topic keeps', async () => {
    const sent = await eventually(
      async () => {
        const records = await readAll(topicFor(orderRequest, app.partner));
        return records.find(({ key }) => key?.toString() === first.orderNumber);
      },
      { what: 'the order is sent' },
    );
    expect(foundIn(String(sent.value)).toSorted()).toEqual(['contact email', 'contact name', 'contact phone']);
    const { id } = await letterOf('broken elsewhere');
    const copy = await eventually(
      async () => {
        const records = await readAll(`${topicFor(despatchAdvice, app.partner)}-dlt`);
        return records.find(({ key }) => key?.toString() === orders['broken elsewhere']);
      },
      { what: `dead letter ${id} is published` },
    );
    expect(foundIn(String(copy.value))).toEqual(['driver']);
  });

  it('is kept by an edit of somebody who has not seen it, and no mask is ever applied', async () => {
    const letter = await letterOf('to be mended');
    const shown = await app.ask('operator', `GET /v1/dead-letters/${letter.id}`);
    const { document } = shown.json['content'] as { document: { issuedAt: string; driver: { name: string } } };
    expect(document).toMatchObject({ issuedAt: 'x', driver: { name: '•••' } });
    const edit = (change: object, etag: unknown) =>
      app.ask(
        'operator',
        `POST /v1/dead-letters/${letter.id}/edits`,
        { document: { ...document, issuedAt: '2026-03-01T10:00:00Z', ...change }, reason: 'no time' },
        { 'if-match': String(etag) },
      );
    const stray = await edit({ carrier: '•••' }, shown.headers['etag']);
    expect(stray).toMatchObject({
      status: 422,
      json: { code: 'edit-invalid', errors: [{ pointer: '/document/carrier' }] },
    });
    const kept = await edit({}, shown.headers['etag']);
    const same = await edit({}, kept.headers['etag']);
    expect(same).toMatchObject({ status: 422, json: { errors: [{ pointer: '/document' }] } });
    const issuedAt: unknown = expect.objectContaining({ path: '/issuedAt', value: '2026-03-01T10:00:00Z' });
    // Who guesses right is told no more than who guesses wrong, and stands in the audit.
    const [right] = [...secrets].find(([, what]) => what === 'kept driver') ?? [];
    const guessed = await edit({ driver: { name: right } }, kept.headers['etag']);
    // An edit of the edit: its mask stands for what the first one kept.
    const added = await edit({ driver: { name: '•••', phone: secret('rung') } }, guessed.headers['etag']);
    expect([kept.status, guessed.status, added.status]).toEqual([201, 201, 201]);
    expect((added.json['edits'] as { diff: unknown }[]).map(({ diff }) => diff)).toEqual([
      [issuedAt],
      [issuedAt, { op: 'replace', path: '/driver/name', value: '•••' }],
      [
        issuedAt,
        { op: 'add', path: '/driver/phone', value: '•••' },
        { op: 'replace', path: '/driver/name', value: '•••' },
      ],
    ]);
    answers.push(stray.body, kept.body, same.body, guessed.body, added.body);
    const replay = await app.ask('support', `POST /v1/dead-letters/${letter.id}/replay`, { reason: 'mended' });
    expect(replay.status).toBe(202);
    await eventually(async () => (await letterOf('to be mended')).state === 'processed', {
      what: 'the mended despatch is applied',
    });
    const [row] = await app.database.query<{ driver: object }>(
      `SELECT driver FROM shipment WHERE order_number = :number`,
      { number: orders['to be mended'] },
    );
    expect(foundIn(JSON.stringify(row?.driver))).toEqual(['kept driver', 'rung']);
  });

  it('is not sent as the mask that was shown', async () => {
    const order = { partner: app.partner, currency: 'EUR', contact: { name: '•••' } };
    const lines = [{ lineNumber: 1, item: 'A', quantity: '1', unit: 'C62', unitPrice: '1' }];
    const refused = await app.ask('operator', 'POST /v1/orders', { ...order, lines }, { 'idempotency-key': 'masked' });
    expect(refused).toMatchObject({ status: 400, json: { errors: [{ pointer: '/contact/name' }] } });
  });

  it('is shown nowhere: not by any operation that reads, to any role, nor in logs, metrics, problems and the audit', async () => {
    // A replay that fails again, an answer that never comes, a request that holds a mistake.
    const { id } = await letterOf('broken elsewhere');
    answers.push((await app.ask('support', `POST /v1/dead-letters/${id}/replay`, { reason: 'once more' })).body);
    await app.database.query(
      `UPDATE exchange SET deadline = now() - interval '1 min', look_at = now() - interval '1 min', resends = 2 WHERE correlation_id = :id`,
      { id: first.correlationId },
    );
    await eventually(
      async () => {
        // A deadline that is put back lies where all is judged already.
        await app.database.query('UPDATE reply_watch SET judged_up_to = NULL');
        return (await app.ask('viewer', `GET /v1/orders/${first.orderNumber}`)).json['overdueSince'] !== null;
      },
      { timeout: 60_000, interval: 250, what: 'the order is overdue' },
    );
    await eventually(async () => ((await app.ask('viewer', 'GET /v1/outbox')).json['dead'] as number) === 1, {
      timeout: 60_000,
      what: 'the large order is an outbound dead letter',
    });
    for (const [what, body] of [
      ['too long', { contact: { name: secret('too long').padEnd(200, '!') } }],
      ['of another kind', { contact: secret('no object') }],
      ['unknown', { contact: { name: 'x', fax: secret('fax') } }],
      ['not JSON', `{"contact":{"name":"${secret('in broken JSON')}"`],
      ['no JSON', secret('as the body')],
    ] as const) {
      const refused = await app.ask('operator', 'POST /v1/orders', body, { 'idempotency-key': what });
      expect([what, refused.status]).toEqual([what, 400]);
      answers.push(refused.body);
    }

    for (const url of getsOf(app.description, await valuesOf(app))) {
      for (const role of ROLES) {
        const { status, body } = await app.ask(role, `GET ${url}`);
        expect([url, role, [200, 204, 403].includes(status)]).toEqual([url, role, true]);
        expect([url, role, foundIn(body)]).toEqual([url, role, []]);
      }
    }
    const metrics = await (await fetch(`${app.running.managementUrl}/metrics`)).text();
    expect(metrics).toContain('parley_dead_letters_open');
    expect(foundIn(metrics)).toEqual([]);
    expect(app.log()).toContain('a message was not applied');
    expect(foundIn(app.log())).toEqual([]);
    for (const answer of answers) expect([answer, foundIn(answer)]).toEqual([answer, []]);
  }, 300_000);

  it('is shown for a reason, and the audit says who saw what and why', async () => {
    const reason = { reason: 'acme asks' };
    const letter = await letterOf('broken elsewhere');
    const unmasked = [
      [`/v1/orders/${first.orderNumber}`, 'contact name'],
      [`/v1/orders/${orders['shipped']}/shipments/${await despatchNumberOf(app, orders['shipped'])}`, 'driver'],
      [`/v1/dead-letters/${letter.id}`, 'driver'],
      [`/v1/dead-letters/${letter.id}/value`, 'driver'],
      [`/v1/dead-letters/${(await letterOf('not JSON')).id}`, undefined],
    ] as const;
    for (const [path, what] of unmasked) {
      expect(await app.ask('viewer', `POST ${path}/unmasking`, reason)).toMatchObject({ status: 403 });
      expect(await app.ask('support', `POST ${path}/unmasking`, {})).toMatchObject({ status: 400 });
      const answer = await app.ask('support', `POST ${path}/unmasking`, reason);
      expect([path, answer.status, answer.headers['cache-control']]).toEqual([path, 200, 'no-store']);
      if (what !== undefined) expect(foundIn(answer.body)).toContain(what);
    }
    const { json } = await app.ask('admin', 'GET /v1/audit?limit=200');
    const entries = json['items'] as { action: string; object: string; reason: string; detail: unknown }[];
    const { id } = app.keys.support;
    expect(entries.filter(({ action }) => action.endsWith('.unmask')).toReversed()).toMatchObject([
      {
        action: 'order.unmask',
        caller: id,
        reason: 'acme asks',
        object: `order/${first.orderNumber}`,
        partner: app.partner,
      },
      { action: 'shipment.unmask', detail: { shown: ['/driver/name', '/driver/phone'] } },
      { action: 'dead-letter.unmask', object: `dead-letter/${letter.id}`, detail: { shown: ['/driver/name', 'raw'] } },
      { action: 'dead-letter.unmask', detail: { shown: ['raw'] } },
      { action: 'dead-letter.unmask', detail: { shown: ['raw'] } },
    ]);
    expect(foundIn(JSON.stringify(json))).toEqual([]);
  });

  it('cannot be searched: no query names it, and a parameter that nobody knows is refused', async () => {
    const members = CONTRACTS.flatMap((contract) =>
      contract.examples.flatMap((example) => personalTexts(contract, example).map(({ path }) => path)),
    );
    const names = new Set(members.flatMap((path) => [path.join('.'), ...path.map(String)]));
    expect([...names].toSorted()).toEqual(
      expect.arrayContaining(['contact', 'contact.email', 'driver', 'driver.name']),
    );
    for (const [path, { get }] of Object.entries(app.description.paths)) {
      for (const parameter of get?.parameters ?? []) {
        if ('name' in parameter && parameter.in === 'query')
          expect([path, names.has(parameter.name)]).toEqual([path, false]);
      }
    }
    for (const url of ['/v1/orders', '/v1/dead-letters', '/v1/parked', `/v1/orders/${orders['shipped']}/shipments`]) {
      for (const name of ['contact', 'contact.email', 'driver', 'q']) {
        const refused = await app.ask('admin', `GET ${url}?${encodeURIComponent(name)}=Kim`);
        expect([url, name, refused.status, refused.json['code']]).toEqual([url, name, 400, 'request-invalid']);
      }
    }
  });
});

async function despatchNumberOf({ ask }: CrawledApp, orderNumber = ''): Promise<string> {
  const { json } = await ask('viewer', `GET /v1/orders/${orderNumber}/shipments`);
  const [shipment] = json['items'] as { despatchNumber: string }[];
  return encodeURIComponent(shipment?.despatchNumber ?? '');
}
