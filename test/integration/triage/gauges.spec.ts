import { FailureCounts } from '../../../src/messaging/triage/failure-counts';
import { answer, broken, startTriage, type TriageApp } from './triage-app';

describe('the gauges of failures', () => {
  let triage: TriageApp;
  beforeAll(async () => (triage = await startTriage()));
  afterAll(() => triage.close());

  const scrape = async (name: string): Promise<string[]> => {
    const text = await triage.metrics.registry.metrics();
    return text.split('\n').filter((line) => line.startsWith(name));
  };
  const count = () => triage.app.get(FailureCounts).count();

  it('say how many wait, how many are dead on which topic, and how old the oldest is', async () => {
    triage.decide = () => ({ kind: 'retry', code: 'too-early', detail: 'not yet' });
    await triage.deliver(broken('a'), broken('b', { partner: 'umbra' }), broken('c'), answer('c'), answer('d'));
    await triage.database.transaction((tx) =>
      tx.query(`UPDATE parked_inbound SET last_failed_at = now() - interval '1 hour' WHERE key = 'a'`),
    );
    await count();
    expect(await scrape('parley_parked_messages')).toEqual(
      expect.arrayContaining([
        'parley_parked_messages{direction="in",state="waiting"} 1',
        'parley_parked_messages{direction="in",state="held"} 1',
      ]),
    );
    expect((await scrape('parley_dead_letters_open')).toSorted()).toEqual([
      'parley_dead_letters_open{topic="orders.acme.response.v1"} 2',
      'parley_dead_letters_open{topic="orders.umbra.response.v1"} 1',
    ]);
    const [age = ''] = await scrape('parley_dead_letter_oldest_age_seconds');
    expect(Number(age.split(' ')[1])).toBeGreaterThanOrEqual(3600);
    expect(Number(age.split(' ')[1])).toBeLessThan(3700);
  });

  it('forget what is resolved', async () => {
    await triage.database.transaction((tx) =>
      tx.query(`UPDATE parked_inbound SET state = 'discarded', resolved_at = now()`),
    );
    await count();
    expect(await scrape('parley_dead_letters_open{')).toEqual([]);
    expect(await scrape('parley_dead_letter_oldest_age_seconds')).toEqual(['parley_dead_letter_oldest_age_seconds 0']);
    expect(await scrape('parley_parked_messages{direction="in"')).toEqual([
      'parley_parked_messages{direction="in",state="waiting"} 0',
      'parley_parked_messages{direction="in",state="held"} 0',
    ]);
  });
});
