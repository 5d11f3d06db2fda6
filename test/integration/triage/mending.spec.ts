import { dead, edit, letterOf, mended, replay, resolve, show } from './mending-steps';
import { answer, ask, auditOf, ifMatch, lettersOf, type Row, startTriage, type TriageApp } from './triage-app';

describe('mending a dead letter', () => {
  let triage: TriageApp;
  beforeAll(async () => (triage = await startTriage()));
  afterAll(() => triage.close());
  beforeEach(() => {
    triage.decide = () => undefined;
    triage.applied.length = 0;
  });

  describe('by an edit', () => {
    it('has the edited document applied under an id of its own, linked to the original, and what waited behind it after it', async () => {
      const letter = await dead(triage, { id: 'orig-1' });
      await triage.deliver(answer(letter.key, {}, { id: 'later-1' }));
      const edited = await edit(triage, letter, mended(letter.key));
      expect(edited).toMatchObject({ status: 201, headers: { etag: '"2"' } });
      const [{ messageId }] = edited.json['edits'] as [{ messageId: string }];
      expect(edited.json).toMatchObject({
        state: 'dead',
        edits: [
          {
            state: 'approved',
            current: true,
            madeBy: triage.keys.operator.id,
            reason: 'a typo',
            diff: [{ op: 'replace', path: '/responseCode', value: 'AP' }],
          },
        ],
      });
      expect(triage.applied).toEqual([]);
      const started = await replay(triage, letter);
      expect(started.status).toBe(202);
      expect(started.headers['location']).toBe(`/v1/replays/${String(started.json['replayId'])}`);
      const heard: unknown[] = [];
      triage.decide = (message) => void heard.push([message.id, message.causationId]);
      await triage.drain();
      expect(triage.applied).toEqual([`${letter.key}/${messageId}`, `${letter.key}/later-1`]);
      expect(heard[0]).toEqual([messageId, 'orig-1']);
      expect(await show(triage, letter)).toMatchObject({
        state: 'processed',
        messageId: 'orig-1',
        replays: [{ id: started.json['replayId'], outcome: 'processed' }],
        content: { document: { responseCode: 'x' } },
      });
      expect(await auditOf(triage, `dead-letter/${letter.id}`)).toMatchObject([
        {
          action: 'dead-letter.edit',
          reason: 'a typo',
          partner: 'acme',
          detail: { messageId, changed: ['replace /responseCode'] },
        },
      ]);
    });

    it('is seen by a viewer without what it says', async () => {
      const letter = await dead(triage);
      await edit(triage, letter, mended(letter.key, { reason: 'Mrs Secret called' }));
      const seen = await show(triage, letter, 'viewer');
      expect(seen['edits']).toMatchObject([{ reason: 'a typo', document: null, diff: null }]);
      expect(JSON.stringify(seen)).not.toContain('Secret');
      const book = await auditOf(triage, `dead-letter/${letter.id}`);
      expect(JSON.stringify(book)).not.toContain('Secret');
    });

    it.each([
      ['breaks a rule', { responseCode: 'lower' }, '/document/responseCode'],
      ['lacks a member', { issuedAt: undefined }, '/document/issuedAt'],
      ['has another key', { orderNumber: 'another' }, '/document/orderNumber'],
      ['holds what no table can', { reason: 'a\0b' }, '/document/reason'],
      ['holds half a character', { reason: '\ud83d' }, '/document/reason'],
      ['changes nothing', { responseCode: 'x' }, '/document/responseCode'],
    ])('that %s is refused, and says where', async (_, change, pointer) => {
      const letter = await dead(triage);
      const refused = await edit(triage, letter, mended(letter.key, change));
      expect(refused).toMatchObject({ status: 422, json: { code: 'edit-invalid', errors: [{ pointer }] } });
      expect(await show(triage, letter)).toMatchObject({ version: letter.version, edits: [] });
    });

    it('that says what is applied anyway is refused', async () => {
      triage.decide = () => ({ kind: 'dead', code: 'illegal-transition', detail: 'no' });
      await triage.deliver(answer('same'));
      const letter = await letterOf(triage, 'same');
      const same = mended('same');
      expect(await edit(triage, letter, same)).toMatchObject({
        status: 422,
        json: { errors: [{ pointer: '/document' }] },
      });
      const other = mended('same', { responseCode: 'RE' });
      expect(await edit(triage, letter, other)).toMatchObject({ status: 201 });
      const again = { ...letter, version: letter.version + 1 };
      expect(await edit(triage, again, other)).toMatchObject({ status: 422 });
      // The way back.
      expect(await edit(triage, again, same)).toMatchObject({ status: 201 });
    });

    it('of bytes that nobody can read is a document from nothing', async () => {
      await triage.deliver(answer('bytes', {}, { value: Buffer.from([1, 2, 3]) }));
      const letter = await letterOf(triage, 'bytes');
      const edited = await edit(triage, letter, mended('bytes'));
      expect(edited.json['edits']).toMatchObject([{ diff: [{ op: 'replace', path: '', value: mended('bytes') }] }]);
      expect(await replay(triage, letter)).toMatchObject({ status: 202 });
      await triage.drain();
      expect(await show(triage, letter)).toMatchObject({ state: 'processed' });
    });

    it('of a record that names no document is refused', async () => {
      await triage.deliver(answer('alien', {}, { headers: { ce_type: 'strange' } }));
      const letter = await letterOf(triage, 'alien');
      expect(await edit(triage, letter, mended('alien'))).toMatchObject({
        status: 409,
        json: { code: 'edit-impossible' },
      });
    });

    it('of what was changed meanwhile is told that first, whatever the document is', async () => {
      const letter = await dead(triage);
      const stale = { ...letter, version: letter.version + 1 };
      expect(await edit(triage, stale, mended(letter.key, { responseCode: 'x' }))).toMatchObject({ status: 412 });
    });

    it.each(['text', 7, null, ['list']])('that is %j is no document', async (document) => {
      const letter = await dead(triage);
      expect(await edit(triage, letter, document)).toMatchObject({ status: 400, json: { code: 'request-invalid' } });
    });
  });

  it('lets one of two who edit, or discard, at once win', async () => {
    const letter = await dead(triage);
    const edits = await Promise.all([
      edit(triage, letter, mended(letter.key)),
      edit(triage, letter, mended(letter.key, { responseCode: 'RE' }), 'second'),
    ]);
    expect(edits.map(({ status }) => status).toSorted()).toEqual([201, 412]);
    const seen = { ...letter, version: letter.version + 1 };
    const both = await Promise.all([resolve(triage, 'discard', seen), resolve(triage, 'discard', seen, 'second')]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 412]);
    expect(await auditOf(triage, `dead-letter/${letter.id}`)).toHaveLength(2);
  });

  it.each(['edits', 'discard', 'restore'])('refuses %s without an ETag, and with an old one', async (verb) => {
    const letter = await dead(triage);
    const url = `POST /v1/dead-letters/${letter.id}/${verb}` as const;
    const body = { reason: 'r', ...(verb === 'edits' ? { document: mended(letter.key) } : {}) };
    expect(await ask(triage, 'operator', url, body)).toMatchObject({ status: 428 });
    expect(await ask(triage, 'operator', url, body, { 'if-match': '"99"' })).toMatchObject({ status: 412 });
    expect(await ask(triage, 'support', url, body, ifMatch(letter))).toMatchObject({ status: 403 });
  });

  it('keeps other partners out', async () => {
    const letter = await dead(triage, { partner: 'umbra' });
    for (const answered of [
      await edit(triage, letter, mended(letter.key), 'acme'),
      await resolve(triage, 'discard', letter, 'acme'),
      await resolve(triage, 'restore', letter, 'acme'),
      await replay(triage, letter, 'acme'),
    ])
      expect(answered).toMatchObject({ status: 404, json: { code: 'parked-unknown' } });
  });

  describe('by giving it up', () => {
    it('lets what waited behind it follow', async () => {
      const letter = await dead(triage);
      await triage.deliver(answer(letter.key, {}, { id: 'd-1' }), answer(letter.key, {}, { id: 'd-2' }));
      await triage.drain();
      expect(triage.applied).toEqual([]);
      const discarded = await resolve(triage, 'discard', letter);
      expect(discarded).toMatchObject({
        status: 200,
        headers: { etag: '"2"' },
        json: { state: 'discarded', resolution: 'to discard', resolvedBy: triage.keys.operator.id },
      });
      await triage.drain();
      expect(triage.applied).toEqual([`${letter.key}/d-1`, `${letter.key}/d-2`]);
      await triage.deliver(answer(letter.key, {}, { id: 'd-3' }));
      expect(triage.applied).toHaveLength(3);
    });

    it('and restoring it, which holds its key again', async () => {
      const letter = await dead(triage);
      const discarded = (await resolve(triage, 'discard', letter)).json as Row;
      await triage.drain();
      const restored = await resolve(triage, 'restore', discarded);
      expect(restored).toMatchObject({ status: 200, json: { state: 'dead', resolvedAt: null, resolution: null } });
      await triage.deliver(answer(letter.key));
      await triage.drain();
      expect(triage.applied).toEqual([]);
      expect(await lettersOf(triage, letter.key, 'open')).toMatchObject([{ id: letter.id, held: 1 }]);
      expect(await resolve(triage, 'restore', restored.json as Row)).toMatchObject({
        status: 409,
        json: { code: 'parked-not-discarded' },
      });
      expect((await auditOf(triage, `dead-letter/${letter.id}`)).map(({ action }) => action)).toEqual([
        'dead-letter.discard',
        'dead-letter.restore',
      ]);
    });
  });

  describe('by a replay', () => {
    it('that fails says so', async () => {
      const letter = await dead(triage);
      const started = await replay(triage, letter);
      expect(started.status).toBe(202);
      await triage.drain();
      expect(triage.applied).toEqual([]);
      expect(await show(triage, letter)).toMatchObject({
        state: 'dead',
        code: 'invalid',
        replays: [{ id: started.json['replayId'], outcome: 'failed-again', code: 'invalid' }],
      });
    });

    it('that can not begin says why, and changes nothing', async () => {
      const letter = await dead(triage);
      const { json } = await resolve(triage, 'discard', letter);
      expect(await replay(triage, letter)).toMatchObject({ status: 409, json: { code: 'parked-not-dead' } });
      expect(await show(triage, letter)).toMatchObject({ state: 'discarded', version: json['version'], replays: [] });
    });

    it('is for support, not for viewers', async () => {
      expect(await replay(triage, await dead(triage), 'viewer')).toMatchObject({ status: 403 });
    });
  });
});
