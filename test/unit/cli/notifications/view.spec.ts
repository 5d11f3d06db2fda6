import { inDoubt, kindLines, POLICY_WORDS } from '../../../../src/cli/notifications/kinds';
import { nextSteps, viewLines } from '../../../../src/cli/notifications/view';
import { localTime } from '../../../../src/cli/terminal/words';
import { MAY } from '../../../../src/notifications/api/may';
import { CRASH_POLICIES } from '../../../../src/notifications/domain/kind';
import { KINDS } from '../../../../src/notifications/kinds/catalogue';
import { AT, notification } from './fixture';

describe('a notification', () => {
  it('is shown with the times of this machine, in sentences too', () => {
    const lines = viewLines(notification());
    expect(lines).toContainEqual(expect.stringMatching(`^standing +Tried again at ${localTime(AT)}\\.$`));
    expect(lines).toContainEqual(`  at       ${localTime(AT)}`);
    expect(lines.join('\n')).not.toContain(AT);
  });

  it('says of an attempt whose end nobody heard that it was never heard', () => {
    expect(viewLines(notification()).at(-1)).toMatch(/^ {2}1 +send .* - +never heard /);
  });

  it('tells partners by their names', () => {
    const data = { partner: { id: 'acme', name: 'Acme Ltd' }, other: { id: 'x', name: 'x' }, lines: [{ a: 1 }] };
    expect(viewLines(notification({ data }))).toEqual(
      expect.arrayContaining(['  partner  Acme Ltd (acme)', '  other    x', '  lines    [{"a":1}]']),
    );
  });

  it('of a secret kind shows no data', () => {
    expect(viewLines(notification({ data: null }))).toContain('  A secret of its receiver, which is shown to nobody.');
  });

  it.each(['pending', 'sending', 'sent', 'failed', 'unknown', 'cancelled', 'expired'] as const)(
    'that is %s names the commands for what may be done about it, and no other',
    (state) => {
      const steps = nextSteps(notification({ state, may: [...MAY[state]] })).join('\n');
      const named = [...steps.matchAll(/parley notifications (\w+) n1/g)].map(([, verb]) => verb);
      expect(named.sort()).toEqual([...MAY[state]].sort());
    },
  );

  it('whose address was refused for good names the command that has it tried again, and what comes then', () => {
    const steps = (may: readonly ('resend' | 'unmark')[], data: object | null) =>
      nextSteps(notification({ state: 'failed', may: [...may], data: data as null }));
    const unmark = 'Once its address is right, to have it tried again: parley notifications unmark n1 --reason "…"';
    expect(steps(['unmark'], null)).toEqual([`${unmark}; then have the system that asked for it make a new one`]);
    expect(steps(['resend', 'unmark'], {})).toEqual([
      'Once the cause is mended: parley notifications resend n1',
      unmark,
    ]);
  });

  it('that waits since its provider failed leads there', () => {
    expect(nextSteps(notification({ code: 'smtp-unreachable' }))[0]).toContain('parley notifications providers');
  });
});

describe('a kind', () => {
  it('says in words what a doubt does to it', () => {
    expect(Object.keys(POLICY_WORDS).sort()).toEqual([...CRASH_POLICIES].sort());
    for (const kind of KINDS) expect(kindLines(kind)).toContain(`in doubt     ${inDoubt(kind)}`);
  });
});
