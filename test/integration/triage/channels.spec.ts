import { CONTRACTS, contractsFor, topicFor } from '../../../src/contracts';
import { pausedChannels } from '../../../src/messaging/consumer';
import { addPartner } from '../orders/orders-app';
import { ask, auditOf, itemsOf, type Row, startTriage, type TriageApp } from './triage-app';

const TOPIC = 'orders.acme.response.v1';

describe('channels', () => {
  let triage: TriageApp;
  beforeAll(async () => (triage = await startTriage()));
  afterAll(() => triage.close());

  const change = (verb: 'pause' | 'resume', topic = TOPIC, who: 'operator' | 'support' | 'acme' = 'operator') =>
    ask(triage, who, `POST /v1/channels/${topic}/${verb}`, { reason: `to ${verb}` });
  const topics = (rows: readonly object[]) => rows.map((row) => (row as { topic: string }).topic);

  it('are listed by topic over the pages, also those of a partner that has just come', async () => {
    await addPartner(triage.database, 'zeta', 'json');
    const seen: Row[] = [];
    for (let next: string | undefined = '/v1/channels?limit=3'; next;) {
      const page = await ask(triage, 'viewer', `GET ${next}`);
      seen.push(...(page.json['items'] as Row[]));
      next = /^<(.+)>; rel="next"$/.exec(String(page.headers['link']))?.[1];
    }
    const expected = ['acme', 'umbra', 'zeta'].flatMap((partner) =>
      contractsFor(CONTRACTS, partner).map((contract) => topicFor(contract, partner)),
    );
    expect(topics(seen)).toEqual([...new Set(expected)].toSorted());
    expect(seen).toContainEqual({
      topic: TOPIC,
      partner: 'acme',
      direction: 'in',
      format: 'json',
      partitions: 4,
      paused: null,
    });
    expect(new Set((await itemsOf(triage, '/v1/channels', 'acme')).map(({ partner }) => partner))).toEqual(
      new Set(['acme']),
    );
  });

  it('are paused and resumed by the row that consumers obey, with a reason, once', async () => {
    const paused = await change('pause');
    const pause = { code: 'staff', reason: 'to pause', by: triage.keys.operator.id };
    expect(paused).toMatchObject({ status: 200, json: { topic: TOPIC, paused: pause } });
    expect(await pausedChannels(triage.database)).toMatchObject([{ code: 'staff', reason: 'to pause' }]);
    expect(await change('pause')).toMatchObject({ status: 409, json: { code: 'channel-paused' } });
    const shown = (await itemsOf(triage, '/v1/channels')).filter(({ paused: is }) => is !== null);
    expect(shown).toMatchObject([{ topic: TOPIC, paused: pause }]);
    expect(await change('resume')).toMatchObject({ status: 200, json: { paused: null } });
    expect(await pausedChannels(triage.database)).toEqual([]);
    expect(await change('resume')).toMatchObject({ status: 409, json: { code: 'channel-not-paused' } });
    expect(await auditOf(triage, `channel/${TOPIC}`)).toMatchObject([
      { action: 'channel.pause', reason: 'to pause', partner: 'acme' },
      { action: 'channel.resume', reason: 'to resume', partner: 'acme' },
    ]);
  });

  it('that we write, that are unknown or of somebody else, are not paused', async () => {
    expect(await change('pause', 'orders.acme.request.v1')).toMatchObject({
      status: 409,
      json: { code: 'channel-outbound' },
    });
    expect(await change('pause', 'nowhere')).toMatchObject({ status: 404, json: { code: 'topic-unknown' } });
    expect(await change('pause', 'orders.umbra.response.v1', 'acme')).toMatchObject({ status: 404 });
    expect(await change('pause', TOPIC, 'support')).toMatchObject({ status: 403 });
    expect(await ask(triage, 'operator', `POST /v1/channels/${TOPIC}/pause`, { reason: ' ' })).toMatchObject({
      status: 400,
    });
    expect(await pausedChannels(triage.database)).toEqual([]);
  });
});
