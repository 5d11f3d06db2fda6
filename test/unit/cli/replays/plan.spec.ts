import { planLines } from '../../../../src/cli/replays/plan';
import { localTime } from '../../../../src/cli/terminal/words';
import type { ReplayDto } from '../../../../src/messaging/triage';

const AT = '2026-02-03T04:05:06.789Z';
const planned = (pacePerSecond: number | null, change: object = {}) =>
  ({
    pacePerSecond,
    plan: {
      ...{ count: 12, byPartner: [{ partner: 'acme', count: 12 }], oldest: AT, durationSeconds: null, skipped: [] },
      ...{ heldBehind: { keys: 0, messages: 0, samples: [] }, unknownIds: 0, truncated: false, ...change },
    },
  }) as unknown as ReplayDto;

describe('a plan', () => {
  it('says how many, of whom, since when and how long', () => {
    expect(planLines(planned(2, { durationSeconds: 6 }))).toEqual([
      '12 messages would be sent again: acme 12',
      `  oldest: failed first ${localTime(AT)}`,
      '  pace: at 2 a second, takes about 6 s',
    ]);
  });

  it('says what is skipped and why, what follows by itself, and what it leaves out', () => {
    const skipped = [{ code: 'order-closed', detail: 'The order is closed.', count: 3, samples: ['1', '2'] }];
    const heldBehind = { keys: 1, messages: 2, samples: [{ partner: 'acme', key: '4711', messages: 2 }] };
    expect(planLines(planned(null, { skipped, heldBehind, unknownIds: 1, truncated: true })).slice(2)).toEqual([
      '  pace: as fast as it goes',
      '  3 skipped (order-closed): The order is closed. 1, 2, …',
      '  2 later messages of 1 key would follow: acme/4711 2',
      '  1 id of no message that this key may see',
      '  There are more than one replay holds: these are the oldest. Run it again for the rest.',
    ]);
  });
});
