import { dead, edit, mended, replay, show, type Who } from './mending-steps';
import { ask, auditOf, type Row, startTriage, type TriageApp } from './triage-app';

describe('mending where a second person has to agree', () => {
  let triage: TriageApp;
  beforeAll(async () => (triage = await startTriage({ DEAD_LETTER_APPROVAL: 'true' })));
  afterAll(() => triage.close());

  const decide = (letter: Row, editId: string, verdict: 'approval' | 'refusal', who: Who) =>
    ask(triage, who, `POST /v1/dead-letters/${letter.id}/edits/${editId}/${verdict}`, {});
  const editIdOf = (json: Record<string, unknown>) => (json['edits'] as { id: string }[]).at(-1)?.id ?? '';

  it('applies an edit only when somebody else has agreed', async () => {
    const letter = await dead(triage);
    const edited = await edit(triage, letter, mended(letter.key));
    expect(edited.json['edits']).toMatchObject([{ state: 'pending', current: false, decidedBy: null }]);
    expect(await replay(triage, letter)).toMatchObject({ status: 409, json: { code: 'edit-pending' } });
    const editId = editIdOf(edited.json);
    expect(await decide(letter, editId, 'approval', 'operator')).toMatchObject({
      status: 403,
      json: { code: 'edit-own' },
    });
    expect(await decide(letter, editId, 'approval', 'support')).toMatchObject({
      status: 403,
      json: { code: 'forbidden' },
    });
    expect(await decide(letter, editId, 'approval', 'second')).toMatchObject({
      status: 200,
      json: { edits: [{ state: 'approved', current: true, decidedBy: triage.keys.second.id }] },
    });
    expect(await decide(letter, editId, 'refusal', 'second')).toMatchObject({
      status: 409,
      json: { code: 'edit-decided' },
    });
    expect(await replay(triage, letter)).toMatchObject({ status: 202 });
    await triage.drain();
    expect(await show(triage, letter)).toMatchObject({ state: 'processed' });
    expect((await auditOf(triage, `dead-letter/${letter.id}`)).map(({ action }) => action)).toEqual([
      'dead-letter.edit',
      'dead-letter.approve-edit',
    ]);
  });

  it('leaves the message as it was when somebody refuses', async () => {
    const letter = await dead(triage);
    const editId = editIdOf((await edit(triage, letter, mended(letter.key))).json);
    expect(await decide(letter, editId, 'refusal', 'second')).toMatchObject({
      json: { edits: [{ state: 'refused', current: false }] },
    });
    expect(await replay(triage, letter)).toMatchObject({ status: 202 });
    await triage.drain();
    expect(await show(triage, letter)).toMatchObject({ state: 'dead', code: 'invalid' });
  });

  it('lets one of two who decide at once win', async () => {
    const letter = await dead(triage);
    const editId = editIdOf((await edit(triage, letter, mended(letter.key))).json);
    const both = await Promise.all([
      decide(letter, editId, 'approval', 'second'),
      decide(letter, editId, 'refusal', 'acme'),
    ]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  });

  it('knows no edit of another message', async () => {
    const [letter, other] = [await dead(triage), await dead(triage)];
    const editId = editIdOf((await edit(triage, letter, mended(letter.key))).json);
    for (const id of [editId, '0', 'x']) {
      expect(await decide(other, id, 'approval', 'second')).toMatchObject({
        status: 404,
        json: { code: 'edit-unknown' },
      });
    }
  });
});
