import {
  type Begun,
  judge,
  type Outcome,
  plan,
  type Situation,
  type Step,
  type Verdict,
} from '../../../../src/notifications/domain/crash-policy';
import { CRASH_POLICIES, type CrashPolicy } from '../../../../src/notifications/domain/kind';

const NOW = new Date('2026-11-30T12:00:00Z');
const at = (seconds: number) => new Date(NOW.getTime() + seconds * 1000);

interface Facts {
  policy: CrashPolicy;
  doubtful: boolean;
  /** Is the first attempt within the provider's memory? */
  remembered: boolean;
  expired: boolean;
  usedUp: boolean;
  looksUp: boolean;
}

const situation = (facts: Facts, mayDisturb: Situation['mayDisturb'] = (time) => time): Situation => ({
  notification: {
    attempts: facts.usedUp ? 3 : 1,
    doubtful: facts.doubtful,
    firstBegunAt: at(-100),
    expiresAt: facts.expired ? at(-1) : at(1_000),
  },
  kind: { crash: facts.policy, retry: { initialMs: 1_000, maxMs: 10_000, attempts: 3 } },
  provider: { remembersMs: facts.remembered ? 500_000 : 105_000, reachesWithinMs: 10_000, looksUp: facts.looksUp },
  mayDisturb,
});

const BOOLEANS = [false, true];
/** Every combination there is. */
const all: Facts[] = CRASH_POLICIES.flatMap((policy) =>
  BOOLEANS.flatMap((doubtful) =>
    BOOLEANS.flatMap((remembered) =>
      BOOLEANS.flatMap((expired) =>
        BOOLEANS.flatMap((usedUp) =>
          BOOLEANS.map((looksUp) => ({ policy, doubtful, remembered, expired, usedUp, looksUp })),
        ),
      ),
    ),
  ),
);
const inWords = (step: Step) => (step.do === 'write' ? step.verdict.state : step.do);

/** Read aloud from the first line that fits; undefined: whatever it is. */
const RULES: [Partial<Facts>, string][] = [
  [{ doubtful: false, expired: true }, 'expired'],
  [{ doubtful: false }, 'send'],
  [{ policy: 'repeat', expired: true }, 'expired'],
  [{ policy: 'repeat' }, 'send'],
  [{ remembered: true, expired: false, usedUp: false }, 'send'],
  [{ policy: 'skip' }, 'failed'],
  [{ policy: 'look-up', looksUp: true }, 'look-up'],
  [{ policy: 'look-up', looksUp: false }, 'unknown'],
];
const ruleOf = (facts: Facts) =>
  RULES.find(([when]) => Object.entries(when).every(([name, value]) => facts[name as keyof Facts] === value))?.[1];

describe('a notification that is due', () => {
  it.each(all.map((facts): [string, Facts] => [JSON.stringify(facts), facts]))('%s', (_, facts) => {
    const step = plan(situation(facts), NOW);
    expect(inWords(step)).toBe(ruleOf(facts));
    if (step.do === 'write') expect(step.verdict.doubtful).toBe(facts.doubtful);
  });

  it('is not remembered by a provider that may forget it before it is asked', () => {
    const facts: Facts = {
      ...{ policy: 'skip', doubtful: true, remembered: true, expired: false, usedUp: false, looksUp: false },
    };
    const within = (remembersMs: number): Situation => {
      const whole = situation(facts);
      return { ...whole, provider: { ...whole.provider, remembersMs } };
    };
    expect(inWords(plan(within(110_001), NOW))).toBe('send');
    expect(inWords(plan(within(110_000), NOW))).toBe('failed');
  });

  it('waits while its receiver wants quiet, and no longer than it is worth something', () => {
    const facts: Facts = {
      ...{ policy: 'repeat', doubtful: false, remembered: false, expired: false, usedUp: false, looksUp: false },
    };
    const next = (quiet: Date) => {
      const step = plan(
        situation(facts, () => quiet),
        NOW,
      );
      return step.do === 'write' && step.verdict.state === 'pending' ? step.verdict.nextAttemptAt : undefined;
    };
    expect([next(at(50)), next(at(5_000))]).toEqual([at(50), at(1_000)]);
  });
});

const begunAs = (facts: Facts, action: Begun['action']): Begun => ({
  ...{ action, begunAt: at(-5), conclusiveAt: at(65), wasDoubtful: facts.doubtful, pauseMs: 2_000 },
});
const said = { code: 'c', detail: 'd' };
const short = (verdict: Verdict) =>
  verdict.state === 'pending'
    ? `pending at ${(verdict.nextAttemptAt.getTime() - NOW.getTime()) / 1000}${verdict.doubtful ? ' in doubt' : ''}`
    : `${verdict.state}${verdict.doubtful ? ' in doubt' : ''}`;

describe('the end of an attempt', () => {
  const fresh: Facts = {
    ...{ policy: 'look-up', doubtful: false, remembered: false, expired: false, usedUp: false, looksUp: true },
  };
  const refused: Outcome = { kind: 'refused', ...said };
  const later: Outcome = { kind: 'later', ...said, fault: true };
  const patient: Outcome = { kind: 'later', ...said, fault: false, retryAfterMs: 30_000 };
  const never: Outcome = { kind: 'later', ...said, fault: false, retryAfterMs: 9_000_000 };
  const unknown: Outcome = { kind: 'unknown', ...said };
  const busy: Outcome = { ...unknown, retryAfterMs: 30_000 };
  const unavailable: Outcome = { kind: 'unavailable', ...said };
  const cases: [string, Outcome, Partial<Facts>, string][] = [
    ['accepted', { kind: 'accepted' }, {}, 'sent'],
    ['accepted, and an earlier one was in doubt', { kind: 'accepted' }, { doubtful: true }, 'sent'],
    ['refused', refused, {}, 'failed'],
    ['refused, and an earlier one is in doubt', refused, { doubtful: true }, 'failed in doubt'],
    ['refused for now', later, {}, 'pending at 2'],
    [
      'refused for now, and an earlier one is in doubt and remembered',
      later,
      { doubtful: true, remembered: true },
      'pending at 2 in doubt',
    ],
    ['refused for now, and an earlier one is in doubt', later, { doubtful: true }, 'pending at 65 in doubt'],
    ['refused for now with Retry-After', patient, {}, 'pending at 30'],
    ['refused for now for longer than it is worth anything', never, {}, 'pending at 1000'],
    ['refused for now for the last time', later, { usedUp: true }, 'failed'],
    [
      'refused for the last time, skip in doubt',
      later,
      { usedUp: true, doubtful: true, policy: 'skip' },
      'failed in doubt',
    ],
    ['refused for the last time, look-up in doubt', later, { usedUp: true, doubtful: true }, 'pending at 65 in doubt'],
    ['and nobody to ask', later, { usedUp: true, doubtful: true, looksUp: false }, 'unknown in doubt'],
    ['no answer, repeat', unknown, { policy: 'repeat' }, 'pending at 2 in doubt'],
    ['no answer, repeat for the last time', unknown, { policy: 'repeat', usedUp: true }, 'failed in doubt'],
    ['no answer, skip', unknown, { policy: 'skip' }, 'failed in doubt'],
    ['no answer, skip, remembered', unknown, { policy: 'skip', remembered: true }, 'pending at 2 in doubt'],
    ['no answer, look-up', unknown, {}, 'pending at 65 in doubt'],
    ['no answer of use, with Retry-After, repeat', busy, { policy: 'repeat' }, 'pending at 30 in doubt'],
    ['no answer of use, with Retry-After, remembered', busy, { remembered: true }, 'pending at 30 in doubt'],
    [
      'no answer of use, with a Retry-After behind its memory, skip',
      { ...busy, retryAfterMs: 900_000 },
      { policy: 'skip', remembered: true },
      'pending at 2 in doubt',
    ],
    ['no answer, look-up, remembered', unknown, { remembered: true }, 'pending at 2 in doubt'],
    ['no answer, look-up, remembered, used up', unknown, { remembered: true, usedUp: true }, 'pending at 65 in doubt'],
    ['no answer, look-up, nobody to ask', unknown, { looksUp: false }, 'unknown in doubt'],
    ['not sent', { kind: 'not-sent', ...said }, {}, 'pending at 0'],
    [
      'not sent, and an earlier one is in doubt',
      { kind: 'not-sent', ...said },
      { doubtful: true, remembered: true },
      'pending at 0 in doubt',
    ],
  ];
  it.each(cases)('%s', (_, outcome, facts, expected) => {
    const whole = { ...fresh, ...facts };
    expect(short(judge(situation(whole), begunAs(whole, 'send'), outcome, NOW))).toBe(expected);
  });

  const answers: [string, Outcome, Partial<Facts>, string][] = [
    ['found', { kind: 'found' }, {}, 'sent'],
    ['refused', refused, {}, 'failed'],
    ['not found', { kind: 'not-found' }, {}, 'pending at 0'],
    ['not found, used up by crashes', { kind: 'not-found' }, { usedUp: true }, 'pending at 0'],
    ['not found, expired', { kind: 'not-found' }, { expired: true }, 'expired'],
    ['no answer', unavailable, {}, 'pending at 2 in doubt'],
    ['no answer, used up', unavailable, { usedUp: true }, 'unknown in doubt'],
    ['no answer, expired', unavailable, { expired: true }, 'unknown in doubt'],
  ];
  it.each(answers)('look-up: %s', (_, outcome, facts, expected) => {
    const whole = { ...fresh, doubtful: true, ...facts };
    expect(short(judge(situation(whole), begunAs(whole, 'look-up'), outcome, NOW))).toBe(expected);
  });

  it('counts memory anew when the provider has never heard of it', () => {
    const verdict = judge(
      situation({ ...fresh, doubtful: true }),
      begunAs(fresh, 'look-up'),
      { kind: 'not-found' },
      NOW,
    );
    expect(verdict).toMatchObject({ forgets: true, doubtful: false });
  });

  it('falls behind quiet hours', () => {
    const quiet = situation(fresh, (time) => (time < at(500) ? at(500) : time));
    expect(short(judge(quiet, begunAs(fresh, 'send'), later, NOW))).toBe('pending at 500');
  });
});
