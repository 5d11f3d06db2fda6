import type { Outcome } from '../../../../src/notifications/domain/crash-policy';
import { reportOf } from '../../../../src/notifications/sending/heard';

const said = { code: 'slug', detail: 'A sentence.' };

describe('what an outcome tells of its provider', () => {
  const cases: [string, Outcome, string, number?][] = [
    ['it took it', { kind: 'accepted' }, 'accepted'],
    ['it refused this one', { kind: 'refused', ...said }, 'answered'],
    ['it refused this one for now', { kind: 'later', ...said, fault: false }, 'answered'],
    ['it does not work', { kind: 'later', ...said, fault: true, retryAfterMs: 30_000 }, 'fault', 30_000],
    ['it was never asked', { kind: 'later', ...said, fault: false, ours: true }, 'nothing'],
    ['it said nothing', { kind: 'unknown', ...said }, 'fault'],
    [
      'it said nothing of use, and when to come back',
      { kind: 'unknown', ...said, retryAfterMs: 9_000 },
      'fault',
      9_000,
    ],
    ['its log tells nothing', { kind: 'unavailable', ...said }, 'nothing'],
    ['nobody was reached who could be asked', { kind: 'unavailable', ...said, fault: true }, 'fault'],
    ['its log has it', { kind: 'found' }, 'nothing'],
    ['no time was left', { kind: 'not-sent', ...said }, 'nothing'],
  ];
  it.each(cases)('%s', (_, outcome, says, retryAfterMs = 0) => {
    expect(reportOf(outcome, false)).toMatchObject({ says, retryAfterMs });
  });

  it('says which fault is ours to mend', () => {
    expect(reportOf({ kind: 'later', ...said, fault: true, ours: true }, false)).toMatchObject({
      says: 'fault',
      ours: true,
    });
    expect(reportOf({ kind: 'later', ...said, fault: true }, false)).toMatchObject({ ours: false });
  });
});
