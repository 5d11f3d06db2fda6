import { judge, plan, type Situation } from '../../../src/notifications/domain/crash-policy';
import { CRASH_POLICIES } from '../../../src/notifications/domain/kind';
import { STATES } from '../../../src/notifications/domain/notification';
import { type Standing, standingInWords } from '../../../src/notifications/domain/standing';

const at = (time: string) => new Date(`2026-02-03T${time}:00.000Z`);
const NOW = at('12:00');

const one = (change: Partial<Standing> = {}, provider: Partial<Standing['provider']> = {}): Standing => ({
  ...{ state: 'pending', doubtful: false, attempts: 0, nextAttemptAt: at('11:59'), expiresAt: at('18:00') },
  ...{ settledAt: null, leaseUntil: null, code: null, detail: null, crash: 'look-up', quietUntil: null },
  ...{ secret: false, marked: false },
  lastAttempt: null,
  ...change,
  provider: {
    ...{ name: 'email', channel: 'email', configured: true, failingSince: null, openUntil: null },
    ...{ disabledAt: null, disabledReason: null, lastCode: null, ...provider },
  },
});
const begun = { begunAt: at('11:58'), endedAt: null, notifier: 'n-1' };

describe('where a notification stands', () => {
  it.each([
    ['Due: a notifier takes it as soon as the rate of email lets it.', one()],
    ['Due at 2026-02-03T12:30:00.000Z.', one({ nextAttemptAt: at('12:30') })],
    [
      'Waits for the quiet hours of its receiver to end at 2026-02-03T12:30:00.000Z.',
      one({ nextAttemptAt: at('12:30'), quietUntil: at('12:30') }),
    ],
    // The next attempt comes first, and only then it is seen that the receiver wants quiet.
    [
      'Tried once; next at 2026-02-03T12:30:00.000Z. Come back.',
      one({ attempts: 1, nextAttemptAt: at('12:30'), quietUntil: at('13:00'), detail: 'Come back' }),
    ],
    [
      'Tried 3 times; next at 2026-02-03T12:30:00.000Z. (busy)',
      one({ attempts: 3, nextAttemptAt: at('12:30'), code: 'busy' }),
    ],
    ['Expired at 2026-02-03T11:00:00.000Z: a notifier is about to note it.', one({ expiresAt: at('11:00') })],
    [
      'Waiting: no SMS is configured here. It expires at 2026-02-03T18:00:00.000Z.',
      one({}, { name: 'sms', channel: 'sms', configured: false }),
    ],
    [
      'Waiting: the provider webhook/w is disabled since 2026-02-03T11:00:00.000Z (It answered 503) until somebody enables it. It expires at 2026-02-03T18:00:00.000Z.',
      one({}, { name: 'webhook/w', channel: 'webhook', disabledAt: at('11:00'), disabledReason: 'It answered 503.' }),
    ],
    [
      'Waiting: the provider email does not serve us since 2026-02-03T11:00:00.000Z (smtp-auth); next try at 2026-02-03T12:03:00.000Z. It expires at 2026-02-03T18:00:00.000Z.',
      one({}, { failingSince: at('11:00'), openUntil: at('12:03'), lastCode: 'smtp-auth' }),
    ],
    ['Due: a notifier takes it as soon as the rate of email lets it.', one({}, { openUntil: at('11:59') })],
    [
      'In doubt: it may have gone out at 2026-02-03T11:58:00.000Z. Looked at again at 2026-02-03T12:05:00.000Z: it is sent again then, rather twice than never.',
      one(
        { doubtful: true, lastAttempt: begun, crash: 'repeat', nextAttemptAt: at('12:01') },
        { openUntil: at('12:05') },
      ),
    ],
    ['A notifier has it and is about to send it through email.', one({ state: 'sending', leaseUntil: at('12:01') })],
    [
      'Being sent through email since 2026-02-03T11:58:00.000Z, by n-1: attempt 2.',
      one({ state: 'sending', leaseUntil: at('12:01'), lastAttempt: begun, attempts: 2 }),
    ],
    // What ended is an earlier one: this one has not begun.
    [
      'A notifier has it and is about to send it through email.',
      one({ state: 'sending', leaseUntil: at('12:01'), lastAttempt: { ...begun, endedAt: at('11:59') } }),
    ],
    [
      'The notifier that had it has not been heard of since 2026-02-03T11:59:00.000Z: another one takes it.',
      one({ state: 'sending', leaseUntil: at('11:59') }),
    ],
    [
      'The notifier that had it has not been heard of since 2026-02-03T11:59:00.000Z: it may have gone out at 2026-02-03T11:58:00.000Z.',
      one({ state: 'sending', leaseUntil: at('11:59'), lastAttempt: begun }),
    ],
    ['Sent at 2026-02-03T11:59:00.000Z.', one({ state: 'sent', settledAt: at('11:59') })],
    [
      'Failed at 2026-02-03T11:59:00.000Z; it may have gone out at 2026-02-03T11:58:00.000Z. Given up.',
      one({ state: 'failed', settledAt: at('11:59'), doubtful: true, lastAttempt: begun, detail: 'Given up.' }),
    ],
    [
      'Expired at 2026-02-03T11:59:00.000Z. Too late.',
      one({ state: 'expired', settledAt: at('11:59'), detail: 'Too late' }),
    ],
  ])('%s', (sentence, standing) => {
    expect(standingInWords(standing, NOW)).toBe(sentence);
  });

  it.each(CRASH_POLICIES)('says once of %s that it may have gone out, and why nothing more is done', (crash) => {
    for (const expired of [false, true]) {
      const situation: Situation = {
        notification: {
          attempts: 1,
          doubtful: true,
          firstBegunAt: at('11:58'),
          expiresAt: at(expired ? '11:59' : '18:00'),
        },
        kind: { crash, retry: { initialMs: 1, maxMs: 1, attempts: 1 } },
        provider: { remembersMs: 0, reachesWithinMs: 1, looksUp: false },
        mayDisturb: (time) => time,
      };
      const lost = {
        action: 'send',
        begunAt: at('11:58'),
        conclusiveAt: at('11:59'),
        wasDoubtful: false,
        pauseMs: 1,
      } as const;
      const no = { kind: 'unknown', code: 'no-answer', detail: 'It did not answer.' } as const;
      for (const verdict of [plan(situation, NOW), judge(situation, lost, no, NOW)].map((step) =>
        'do' in step ? (step.do === 'write' ? step.verdict : undefined) : step,
      )) {
        if (!verdict || verdict.state === 'pending') continue;
        const { state, code, detail } = verdict;
        const said = standingInWords(
          one({ state, code, detail, doubtful: true, lastAttempt: begun, settledAt: NOW }),
          NOW,
        );
        expect(said.match(/gone out/g)).toHaveLength(1);
      }
    }
  });

  it('is a sentence in every state, whatever is known', () => {
    for (const state of STATES)
      for (const crash of [...CRASH_POLICIES, undefined])
        for (const doubtful of [false, true])
          for (const lastAttempt of [null, begun]) {
            const said = standingInWords(one({ state, crash, doubtful, lastAttempt }), NOW);
            expect([state, said]).toEqual([state, expect.stringMatching(/^[A-Z][^{}]+\.$/)]);
            expect(said).not.toMatch(/undefined|null|\.\.| {2}/);
          }
  });
});
