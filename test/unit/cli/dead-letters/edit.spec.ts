import { diffLines } from '../../../../src/cli/dead-letters/edit';
import { changesOf } from '../../../../src/cli/dead-letters/since-then';
import { localTime } from '../../../../src/cli/terminal/words';
import type { DeadLetterViewDto } from '../../../../src/messaging/triage';
import { diffOf } from '../../../../src/platform/json';

it('a change is shown member by member, old and new', () => {
  const before = { a: '1,5', b: [1, 2], c: null };
  const after = { a: '1.5', b: [1], d: { e: true } };
  expect(diffLines(before, diffOf(before, after))).toEqual([
    '  ~ /a: "1,5" → "1.5"',
    '  - /b/1: 2',
    '  - /c: null',
    '  + /d: {"e":true}',
  ]);
  expect(diffLines(null, diffOf(null, { a: 1 }))).toEqual(['  ~ all of it: null → {"a":1}']);
});

describe('what became of a message since somebody looked', () => {
  const AT = '2026-02-03T04:05:06.789Z';
  const edit = { id: '17', state: 'pending', madeBy: 'key_a', madeAt: AT, reason: 'comma', decidedBy: null };
  const view = (change: object) =>
    ({
      id: '1',
      state: 'dead',
      version: 1,
      replayId: null,
      resolvedBy: null,
      edits: [],
      ...change,
    }) as unknown as DeadLetterViewDto;

  it.each([
    ['an edit', {}, { edits: [edit] }, `key_a edited it at ${localTime(AT)}: comma.`],
    [
      'a verdict',
      { edits: [edit] },
      { edits: [{ ...edit, state: 'approved', decidedBy: 'key_b', decidedAt: AT }] },
      `key_b approved edit 17 at ${localTime(AT)}.`,
    ],
    ['a replay', {}, { state: 'waiting', replayId: 'r1' }, 'Replay r1 released it. It was dead and is waiting.'],
    [
      'an end',
      {},
      { state: 'discarded', resolvedBy: 'key_b', resolvedAt: AT, resolution: 'twice' },
      `It was dead and is discarded, by key_b at ${localTime(AT)}: twice.`,
    ],
    ['anything else', {}, { version: 2 }, 'Its version was 1 and is 2.'],
  ])('is told: %s', (_, before, after, words) => {
    expect(changesOf(view(before), view(after))).toBe(words);
  });
});
