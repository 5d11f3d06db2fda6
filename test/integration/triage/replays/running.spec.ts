import type { Outcome } from '../../../../src/messaging/consumer';
import { eventually } from '../../../support/eventually';
import { answer, ask, startTriage, type TriageApp } from '../triage-app';

const DEAD: Outcome = { kind: 'dead', code: 'stock-unknown', detail: 'The warehouse knows no such article.' };

describe('a replay in a process that consumes', () => {
  let triage: TriageApp;

  beforeAll(async () => {
    triage = await startTriage({ ROLES: 'consumer' });
  });
  afterAll(() => triage.close());

  async function dead(prefix: string, count: number): Promise<void> {
    triage.decide = () => DEAD;
    for (let from = 0; from < count; from += 500) {
      const size = Math.min(500, count - from);
      await triage.deliver(...Array.from({ length: size }, (_, n) => answer(`${prefix}-${from + n}`)));
    }
    triage.decide = () => undefined;
    triage.applied.length = 0;
  }
  async function started(count: number, pacePerSecond?: number): Promise<string> {
    const planned = await ask(triage, 'operator', 'POST /v1/replays?plan=true', {
      selection: { code: 'stock-unknown' },
    });
    expect(planned.json['plan']).toMatchObject({ count, skipped: [] });
    const planId = String(planned.json['id']);
    const answered = await ask(triage, 'operator', 'POST /v1/replays', { planId, pacePerSecond, reason: 'mended' });
    expect(answered.status).toBe(202);
    return planId;
  }
  const show = async (id: string) => (await ask(triage, 'viewer', `GET /v1/replays/${id}`)).json;

  it('keeps the pace within a fifth', async () => {
    await dead('P', 80);
    const id = await started(80, 25);
    await eventually(async () => ((await show(id))['outcomes'] as { planned: number }).planned === 0);
    // Of a standstill of the machine only half a second is caught up with.
    const [span] = await triage.database.query<{ all: number; awake: number }>(
      `SELECT extract(epoch FROM sum(gap))::float8 AS all, extract(epoch FROM sum(least(gap, interval '0.5 s')))::float8 AS awake
       FROM (SELECT at - lag(at) OVER (ORDER BY at) AS gap FROM replay_item WHERE replay_id = :id) g`,
      { id },
    );
    const [slowest, fastest] = [79 / (span?.awake ?? 0), 79 / (span?.all ?? 0)];
    expect([slowest > 20, fastest < 30, slowest, fastest]).toEqual([true, true, slowest, fastest]);
    await triage.drain();
    await eventually(async () => (await show(id))['state'] === 'done');
  });

  it('of ten thousand is done soon, and every message is applied once', async () => {
    await dead('T', 10_000);
    const id = await started(10_000);
    await eventually(
      async () => {
        await triage.drain();
        return (await show(id))['state'] === 'done';
      },
      { timeout: 180_000, what: 'ten thousand are processed' },
    );
    expect(await show(id)).toMatchObject({ summary: '10000 processed', etaSeconds: null });
    expect([triage.applied.length, new Set(triage.applied).size]).toEqual([10_000, 10_000]);
  }, 300_000);
});
