import { answer, ask, auditOf, broken, itemsOf, type Row, startTriage, type TriageApp } from './triage-app';

describe('groups of dead letters', () => {
  let triage: TriageApp;

  beforeAll(async () => {
    triage = await startTriage();
    triage.decide = ({ value }) =>
      value['reason'] === undefined
        ? undefined
        : { kind: 'dead', code: value['reason'] as string, detail: `about order ${value.orderNumber}: 17 of 4711` };
  });
  afterAll(() => triage.close());
  beforeEach(() =>
    triage.database.transaction((tx) => tx.query('TRUNCATE parked_inbound, parked_key, failure_group CASCADE')),
  );

  let drawn = 0;
  const dead = (code: string, partner = 'acme') => answer(`g-${++drawn}`, { reason: code }, { partner });
  const groups = (query = '', who: 'viewer' | 'acme' = 'viewer') =>
    itemsOf(triage, `/v1/dead-letter-groups?${query}`, who);
  const codes = (rows: readonly Row[]) => rows.map(({ code }) => code);
  const change = (fingerprint: unknown, body: object, etag = '"0"', who: 'support' | 'viewer' | 'acme' = 'support') =>
    ask(triage, who, `PATCH /v1/dead-letter-groups/${String(fingerprint)}`, body, { 'if-match': etag });
  const resolveAll = () =>
    triage.database.transaction((tx) =>
      tx.query(`UPDATE parked_inbound SET state = 'discarded', resolved_at = now() WHERE state = 'dead'`),
    );

  it('put failures of one cause together, whatever their texts, keys and partners are', async () => {
    await triage.deliver(dead('illegal'), dead('illegal'), dead('illegal', 'umbra'), broken('b-1'), broken('b-2'));
    const found = await groups();
    expect(found).toMatchObject([
      { code: 'illegal', open: 3, partners: ['acme', 'umbra'], partnerCount: 2, contract: 'order-response.v1' },
      {
        code: 'invalid',
        open: 2,
        partners: ['acme'],
        partnerCount: 1,
        pointer: '/responseCode',
        failedIn: 'inspection',
      },
    ]);
    const [first] = found;
    const [sample] = await itemsOf(triage, `/v1/dead-letters?fingerprint=${String(first?.['fingerprint'])}`);
    expect(first?.['sample']).toBe(sample?.id);
    expect(Date.parse(String(first?.['firstSeen']))).toBeLessThanOrEqual(Date.parse(String(first?.['lastSeen'])));
    const one = await ask(triage, 'viewer', `GET /v1/dead-letter-groups/${String(first?.['fingerprint'])}`);
    expect(one).toMatchObject({ status: 200, headers: { etag: '"0"' } });
    expect(one.json).toEqual(first);
  });

  it("count for a caller of one partner what is that one's", async () => {
    await triage.deliver(dead('both'), dead('both', 'umbra'), dead('both', 'umbra'), dead('theirs', 'umbra'));
    expect(await groups('', 'acme')).toMatchObject([{ code: 'both', open: 1, partners: ['acme'], partnerCount: 1 }]);
    const theirs = (await groups()).find(({ code }) => code === 'theirs');
    const url = `/v1/dead-letter-groups/${String(theirs?.['fingerprint'])}`;
    expect(await ask(triage, 'acme', `GET ${url}`)).toMatchObject({ status: 404, json: { code: 'group-unknown' } });
    expect(await change(theirs?.['fingerprint'], { note: 'x' }, '"0"', 'acme')).toMatchObject({ status: 404 });
  });

  it('keep from a caller of one partner what staff say of a cause, and let it say nothing', async () => {
    await triage.deliver(dead('shared'), dead('shared', 'umbra'));
    const [group] = await groups();
    const fingerprint = String(group?.['fingerprint']);
    const said = { assignee: 'key_1', note: 'umbra sends nonsense' };
    expect(await change(fingerprint, said)).toMatchObject({ status: 200 });
    expect(await groups('', 'acme')).toMatchObject([{ open: 1, version: 0, assignee: null, note: null }]);
    expect(await groups('state=all', 'acme')).toMatchObject([{ assignee: null, note: null }]);
    expect(await ask(triage, 'acme', `GET /v1/dead-letter-groups/${fingerprint}`)).toMatchObject({
      json: { version: 0, assignee: null, note: null },
    });
    const [own] = await itemsOf(triage, '/v1/dead-letters', 'acme');
    expect(own?.['assignee']).toBeNull();
    expect((await ask(triage, 'acme', `GET /v1/dead-letters/${own?.id}`)).json['assignee']).toBeNull();
    for (const etag of ['"0"', '"1"'])
      expect(await change(fingerprint, { note: null }, etag, 'acme')).toMatchObject({
        status: 403,
        json: { code: 'forbidden', detail: expect.stringContaining('all partners') as string },
      });
    expect(await groups()).toMatchObject([{ version: 1, ...said }]);
    expect(await auditOf(triage, `group/${fingerprint}`)).toHaveLength(1);
  });

  it('show those without an open one only when all are asked for', async () => {
    await triage.deliver(dead('old'), dead('old', 'umbra'));
    await resolveAll();
    await triage.deliver(dead('new'));
    expect(codes(await groups())).toEqual(['new']);
    expect(await groups('state=all')).toMatchObject([
      { code: 'new', open: 1 },
      { code: 'old', open: 0, partners: ['acme', 'umbra'], partnerCount: 2 },
    ]);
    expect(await groups('state=all', 'acme')).toMatchObject([{ code: 'new' }, { code: 'old', partners: ['acme'] }]);
  });

  it('leave none out over the pages while failures arrive, and end', async () => {
    for (let n = 0; n < 9; n++) {
      await triage.deliver(...Array.from({ length: 1 + (n % 3) }, () => dead(`c-${n}`)));
    }
    await triage.deliver(dead('closed'));
    await triage.database.transaction((tx) =>
      tx.query(`UPDATE parked_inbound SET state = 'discarded', resolved_at = now() WHERE code = 'closed'`),
    );
    const seen: unknown[] = [];
    for (let next: string | undefined = '/v1/dead-letter-groups?limit=2&state=all'; next;) {
      const page = await ask(triage, 'viewer', `GET ${next}`);
      seen.push(...codes(page.json['items'] as Row[]));
      // The last one on the list becomes the first of a new one.
      await triage.deliver(...Array.from({ length: 5 }, () => dead('c-0')));
      next = /^<(.+)>; rel="next"$/.exec(String(page.headers['link']))?.[1];
    }
    expect(seen.toSorted()).toEqual(['c-0', 'c-1', 'c-2', 'c-3', 'c-4', 'c-5', 'c-6', 'c-7', 'c-8', 'closed']);
    expect(codes(await groups('limit=1'))).toEqual(['c-0']);
  });

  it('keep assignee and note, also when all of it is resolved and fails again', async () => {
    await triage.deliver(dead('noted'));
    const [group] = await groups();
    const fingerprint = group?.['fingerprint'];
    const changed = await change(fingerprint, { assignee: 'key_1', note: 'acme mends it\non Monday' });
    expect(changed).toMatchObject({ status: 200, headers: { etag: '"1"' }, json: { assignee: 'key_1', version: 1 } });
    expect(await itemsOf(triage, '/v1/dead-letters')).toMatchObject([{ assignee: 'key_1' }]);
    await resolveAll();
    expect(await groups('state=all')).toMatchObject([{ open: 0, note: 'acme mends it\non Monday' }]);
    await triage.deliver(dead('noted'));
    expect(await groups()).toMatchObject([{ open: 1, assignee: 'key_1', note: 'acme mends it\non Monday' }]);
    expect(await change(fingerprint, { assignee: null }, '"1"')).toMatchObject({
      json: { assignee: null, note: 'acme mends it\non Monday', version: 2 },
    });
    expect(await auditOf(triage, `group/${String(fingerprint)}`)).toMatchObject([
      { action: 'group.change', caller: triage.keys.support.id, detail: { assignee: 'key_1', note: 'written' } },
      { detail: { assignee: null } },
    ]);
  });

  it('let one of two who change it at once win, and tell the other', async () => {
    await triage.deliver(dead('raced'));
    const [group] = await groups();
    const both = (etag: string) =>
      Promise.all(['a', 'b'].map((note) => change(group?.['fingerprint'], { note }, etag)));
    expect((await both('"0"')).map(({ status }) => status).toSorted()).toEqual([200, 412]);
    expect((await both('"1"')).map(({ status }) => status).toSorted()).toEqual([200, 412]);
    expect(await auditOf(triage, `group/${String(group?.['fingerprint'])}`)).toHaveLength(2);
  });

  it.each([
    [{}, '"0"', 400, 'request-invalid'],
    [{ note: '' }, '"0"', 400, 'request-invalid'],
    [{ note: 'x\0' }, '"0"', 400, 'request-invalid'],
    [{ assignee: 'a\nb' }, '"0"', 400, 'request-invalid'],
    [{ note: 'x' }, '*', 428, 'precondition-missing'],
    [{ note: 'x' }, 'W/"0"', 412, 'version-stale'],
    [{ note: 'x' }, '"7"', 412, 'version-stale'],
  ])('refuse the change %j under %s', async (body, etag, status, code) => {
    await triage.deliver(dead('refused'));
    const [group] = await groups();
    expect(await change(group?.['fingerprint'], body, etag)).toMatchObject({ status, json: { code } });
  });

  it('are changed by support, not by viewers', async () => {
    await triage.deliver(dead('role'));
    const [group] = await groups();
    expect(await change(group?.['fingerprint'], { note: 'x' }, '"0"', 'viewer')).toMatchObject({ status: 403 });
  });
});
