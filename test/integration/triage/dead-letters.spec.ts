import { answer, ask, broken, itemsOf, lettersOf, type Row, startTriage, type TriageApp } from './triage-app';

describe('reading dead letters', () => {
  let triage: TriageApp;

  beforeAll(async () => {
    triage = await startTriage();
    triage.decide = ({ value }) =>
      value.orderNumber.startsWith('illegal')
        ? { kind: 'dead', code: 'illegal-transition', detail: 'The order is cancelled.' }
        : undefined;
  });
  afterAll(() => triage.close());

  const ordersOf = (rows: readonly Row[]) => rows.map(({ key }) => key);

  describe('in a list', () => {
    beforeAll(async () => {
      const records = [
        broken('f-1'),
        broken('f-2', { partner: 'umbra' }),
        answer('illegal-f'),
        answer('f-4', {}, { headers: { ce_type: 'strange' } }),
      ];
      for (const record of records) await triage.deliver(record);
      await triage.database.transaction((tx) =>
        tx.query(`UPDATE parked_inbound SET last_failed_at = '2031-01-01' WHERE key = 'f-4'`),
      );
    });

    it.each([
      ['partner=umbra', ['f-2']],
      ['topic=orders.acme.response.v1', ['f-4', 'illegal-f', 'f-1']],
      ['contract=order-response', ['illegal-f', 'f-2', 'f-1']],
      ['contract=strange', ['f-4']],
      ['code=illegal-transition', ['illegal-f']],
      ['order=f-1', ['f-1']],
      ['order=f-1&partner=umbra', []],
      ['since=2030-12-31T23:59:59Z', ['f-4']],
      ['state=resolved', []],
      ['code=invalid&partner=acme&contract=order-response', ['f-1']],
    ])('finds what %s names, newest first', async (filter, orders) => {
      expect(ordersOf(await itemsOf(triage, `/v1/dead-letters?${filter}`))).toEqual(orders);
    });

    it('finds the failures of one cause', async () => {
      const [first] = await lettersOf(triage, 'f-1');
      const found = await itemsOf(triage, `/v1/dead-letters?fingerprint=${String(first?.['fingerprint'])}`);
      expect(ordersOf(found)).toEqual(['f-2', 'f-1']);
    });

    it('says what failed, where and what waits for it', async () => {
      await triage.deliver(answer('f-1'), answer('f-1'));
      const letters = await lettersOf(triage, 'f-1');
      // The held ones are no dead letters.
      expect(letters).toHaveLength(1);
      expect(letters[0]).toMatchObject({
        state: 'dead',
        partner: 'acme',
        contract: 'order-response.v1',
        code: 'invalid',
        pointer: '/responseCode',
        failedIn: 'inspection',
        held: 2,
        deadLetterTopic: { topic: 'orders.acme.response.v1-dlt', partition: 0, publishedAt: null, trouble: null },
      });
    });

    it('shows nothing of other partners to who is confined to one', async () => {
      expect(ordersOf(await itemsOf(triage, '/v1/dead-letters?order=f-2', 'acme'))).toEqual([]);
      expect(ordersOf(await itemsOf(triage, '/v1/dead-letters?partner=umbra', 'acme'))).toEqual([]);
      const [foreign] = await lettersOf(triage, 'f-2');
      const found = await ask(triage, 'acme', `GET /v1/dead-letters/${foreign?.id}`);
      expect(found).toMatchObject({ status: 404, json: { code: 'parked-unknown' } });
    });

    it.each(['state=new', 'since=yesterday', 'limit=0', 'partner=ACME', 'color=red', 'cursor=W10'])(
      'refuses %s and says why',
      async (query) => {
        const refused = await ask(triage, 'viewer', `GET /v1/dead-letters?${query}`);
        expect(refused).toMatchObject({ status: 400, headers: { 'content-type': /problem\+json/ } });
        expect(refused.json['errors']).toContainEqual(expect.objectContaining({ pointer: query.split('=')[0] }));
      },
    );
  });

  it('shows each once over the pages, also when others die and are resolved meanwhile', async () => {
    await triage.deliver(...Array.from({ length: 25 }, (_, n) => broken(`p-${n}`)));
    const seen: string[] = [];
    let died = 0;
    for (let next: string | undefined = '/v1/dead-letters?limit=4&code=invalid'; next;) {
      const page = await ask(triage, 'viewer', `GET ${next}`);
      const items = page.json['items'] as Row[];
      seen.push(...items.map(({ key }) => key));
      await triage.deliver(broken(`late-${++died}`));
      const [shown] = items;
      if (shown) {
        const headers = { 'if-match': `"${shown.version}"` };
        const url = `/v1/dead-letters/${shown.id}/discard`;
        expect(await ask(triage, 'operator', `POST ${url}`, { reason: 'test' }, headers)).toMatchObject({
          status: 200,
        });
      }
      next = /^<(.+)>; rel="next"$/.exec(String(page.headers['link']))?.[1];
      expect(next === undefined).toBe(page.json['nextCursor'] === null);
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.filter((key) => key.startsWith('p-'))).toHaveLength(25);
    expect(seen.filter((key) => key.startsWith('late-'))).toEqual([]);
  });

  it('reads one whose headers are called like members of every object', async () => {
    const value = Buffer.from('of the partner');
    await triage.deliver(broken('inherited', { headers: { constructor: value, toString: value } }));
    const [letter] = await lettersOf(triage, 'inherited');
    const { status, json } = await ask(triage, 'support', `GET /v1/dead-letters/${letter?.id}`);
    expect(status).toBe(200);
    const content = json['content'] as { document: unknown; headers: { name: string; text: string }[] };
    expect(content.document).toMatchObject({ orderNumber: 'inherited' });
    expect(content.headers).toContainEqual(expect.objectContaining({ name: 'constructor', text: null }));
    const told = await ask(triage, 'support', `POST /v1/dead-letters/${letter?.id}/unmasking`, { reason: 'whose?' });
    expect((told.json['content'] as typeof content).headers).toContainEqual(
      expect.objectContaining({ name: 'constructor', text: 'of the partner' }),
    );
  });

  describe('one by one', () => {
    let id: string;
    beforeAll(async () => {
      await triage.deliver(
        broken('one', { headers: { secret: Buffer.from([0, 255]), plain: 'Zürich' } }),
        answer('one'),
      );
      const [letter] = await lettersOf(triage, 'one');
      id = letter?.id ?? '';
    });
    const show = (who: 'viewer' | 'support', headers = {}) =>
      ask(triage, who, `GET /v1/dead-letters/${id}`, undefined, headers);

    it('shows support the document, the failing field, the bytes, and headers that are known', async () => {
      const { json, headers, status } = await show('support');
      expect(status).toBe(200);
      expect(headers['etag']).toBe(`"${String(json['version'])}"`);
      const text = JSON.stringify({ orderNumber: 'one', responseCode: 'x', issuedAt: '2026-03-01T10:00:00Z' });
      expect(json).toMatchObject({
        timeline: '/v1/orders/one/timeline',
        held: 1,
        attemptLog: [{ code: 'invalid' }],
        replays: [],
        edits: [],
        content: {
          document: { orderNumber: 'one', responseCode: 'x' },
          trouble: { code: 'invalid' },
          value: 'x',
          key: { text: 'one', base64: Buffer.from('one').toString('base64'), length: 3, truncated: false },
          raw: { text, base64: Buffer.from(text).toString('base64'), truncated: false },
        },
      });
      expect((json['content'] as { headers: unknown[] }).headers).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ name: 'ce_type', text: 'parley.order-response.v1' }),
          { name: 'secret', text: null, base64: null, truncated: false },
          { name: 'plain', text: null, base64: null, truncated: false },
        ]),
      );
      expect(json['content']).toMatchObject({ hidden: ['header secret', 'header plain'] });
    });

    it('shows headers that nobody knows for a reason', async () => {
      const { json } = await ask(triage, 'support', `POST /v1/dead-letters/${id}/unmasking`, {
        reason: 'whose are they',
      });
      expect((json['content'] as { headers: unknown[] }).headers).toEqual(
        expect.arrayContaining([
          { name: 'secret', text: null, base64: 'AP8=', truncated: false },
          { name: 'plain', text: 'Zürich', base64: Buffer.from('Zürich').toString('base64'), truncated: false },
        ]),
      );
    });

    it('shows a viewer what failed, and nothing that could be personal', async () => {
      const { json, body } = await show('viewer');
      expect(json).toMatchObject({ code: 'invalid', pointer: '/responseCode', content: null });
      expect(body).not.toContain('issuedAt');
      expect(await ask(triage, 'viewer', `GET /v1/dead-letters/${id}/value`)).toMatchObject({ status: 403 });
    });

    it('gives support a value that nobody can read byte for byte, for a reason', async () => {
      const bytes = Buffer.from([0, 1, 254, 255, 0]);
      await triage.deliver(answer('bytes', {}, { value: bytes }));
      const [letter] = await lettersOf(triage, 'bytes');
      const refused = await ask(triage, 'support', `GET /v1/dead-letters/${letter?.id}/value`);
      expect(refused).toMatchObject({ status: 403, json: { code: 'content-masked' } });
      const found = await triage.app.inject({
        method: 'POST',
        url: `/v1/dead-letters/${letter?.id}/value/unmasking`,
        headers: triage.keys.support.headers,
        payload: { reason: 'acme asks what it was' },
      });
      expect(found.headers).toMatchObject({ 'content-type': 'application/octet-stream', 'cache-control': 'no-store' });
      expect(found.rawPayload).toEqual(bytes);
      const shown = await ask(triage, 'support', `GET /v1/dead-letters/${letter?.id}`);
      expect(shown.json['content']).toMatchObject({
        document: null,
        trouble: { code: 'undecodable' },
        raw: { text: null, base64: null, length: bytes.length },
        hidden: ['raw'],
      });
    });

    it('shows only the beginning of a large value, and all of it on its own', async () => {
      const large = JSON.stringify({ orderNumber: 'large', responseCode: 'x', reason: 'y'.repeat(200_000) });
      await triage.deliver(answer('large', {}, { value: Buffer.from(large) }));
      const [letter] = await lettersOf(triage, 'large');
      const shown = await ask(triage, 'support', `GET /v1/dead-letters/${letter?.id}`);
      expect(shown.json['content']).toMatchObject({ raw: { length: large.length, truncated: true } });
      const whole = await ask(triage, 'support', `GET /v1/dead-letters/${letter?.id}/value`);
      expect(whole.body).toHaveLength(large.length);
    });

    it('says of a record without a value, or of an unknown document, that there is none to show', async () => {
      await triage.deliver(
        answer('tomb', {}, { value: null }),
        answer('alien', {}, { headers: { ce_type: 'strange' } }),
      );
      const [[tomb], [alien]] = [await lettersOf(triage, 'tomb'), await lettersOf(triage, 'alien')];
      expect(await ask(triage, 'support', `GET /v1/dead-letters/${tomb?.id}/value`)).toMatchObject({ status: 204 });
      const shown = async (row: Row | undefined) =>
        (await ask(triage, 'support', `GET /v1/dead-letters/${row?.id}`)).json['content'];
      expect(await shown(tomb)).toMatchObject({
        document: null,
        raw: null,
        trouble: { code: 'tombstone-unsupported' },
      });
      expect(await shown(alien)).toMatchObject({ document: null, trouble: { code: 'contract-unknown' } });
    });

    it('sends nothing again to who has seen it', async () => {
      const { headers } = await show('viewer');
      const again = await show('viewer', { 'if-none-match': String(headers['etag']) });
      expect(again).toMatchObject({ status: 304, body: '' });
    });

    it.each(['0', 'x', '999999999', '99999999999999999999', '-1'])('knows no message %s', async (unknown) => {
      const found = await ask(triage, 'support', `GET /v1/dead-letters/${unknown}`);
      expect(found).toMatchObject({ status: 404, json: { code: 'parked-unknown' } });
    });
  });

  it('keeps unresolved ones for ever and lists them, however old they are', async () => {
    await triage.deliver(broken('ancient'));
    await triage.database.transaction((tx) =>
      tx.query(
        `UPDATE parked_inbound SET parked_at = '2001-01-01', first_failed_at = '2001-01-01', last_failed_at = '2001-01-01' WHERE key = 'ancient'`,
      ),
    );
    expect(await itemsOf(triage, '/v1/dead-letters?order=ancient')).toMatchObject([{ state: 'dead' }]);
  });
});
