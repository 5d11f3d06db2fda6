import { PartnerStates } from '../../../src/partners/state/partner-states';
import type { StateVerb } from '../../../src/partners/state/state-change';
import { systemClock } from '../../../src/platform/clock';
import { answer, ask, broken, itemsOf, startTriage, type TriageApp } from './triage-app';

const BY = { id: 'key_1', name: 'test', role: 'operator', areas: null, partners: null, origin: 'test' } as const;

describe('messages of a suspended partner', () => {
  let triage: TriageApp;

  beforeAll(async () => {
    triage = await startTriage();
  });
  afterAll(() => triage.close());

  const change = (verb: StateVerb) =>
    new PartnerStates(triage.database, systemClock).change({
      ...{ partner: 'acme', verb, reason: 'it was broken into', seen: undefined, by: BY },
    });
  const because = (before = '') =>
    expect.stringMatching(
      new RegExp(`^${before}acme is suspended since \\S+: it was broken into\\. It is tried when acme is resumed\\.$`),
    ) as string;

  it('say that they wait for its resumption, and are not made due before', async () => {
    await change('suspend');
    await triage.deliver(answer('s-1'), answer('s-1'), answer('s-2', {}, { partner: 'umbra' }));
    const found = await itemsOf(triage, '/v1/parked?partner=acme');
    expect(found.map(({ state, reason }) => [state, reason])).toEqual([
      ['waiting', because()],
      ['held', because(`It waits behind message ${found[0]?.id} of its key, which waits \\(its turn\\)\\. `)],
    ]);
    expect(await ask(triage, 'support', `POST /v1/parked/${found[0]?.id}/retry`, {})).toMatchObject({
      status: 409,
      json: { code: 'partner-suspended', detail: because() },
    });
    expect((await ask(triage, 'support', 'POST /v1/parked/retry?plan=true', { partner: 'acme' })).json).toEqual({
      count: 0,
      more: false,
    });
    await change('resume');
    await triage.drain();
    expect(triage.applied).toHaveLength(3);
  });

  it('are replayed when it is resumed, and the replay says so', async () => {
    await triage.deliver(broken('s-3'));
    const [dead] = await itemsOf(triage, '/v1/dead-letters?order=s-3');
    await change('suspend');
    const started = await ask(triage, 'operator', `POST /v1/dead-letters/${dead?.id}/replay`, { reason: 'mended' });
    const replay = String(started.json['replayId']);
    await triage.drain();
    expect(await itemsOf(triage, `/v1/replays/${replay}/items`)).toMatchObject([
      { outcome: 'waiting', code: 'partner-suspended', detail: because() },
    ]);
    await change('resume');
    await triage.drain();
    expect(await itemsOf(triage, `/v1/replays/${replay}/items`)).toMatchObject([{ outcome: 'failed-again' }]);
  });
});
