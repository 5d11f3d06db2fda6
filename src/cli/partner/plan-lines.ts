import type { PlanView } from '../../partners';
import { counted } from '../terminal/words';

/** What a plan would do, a line each, grouped by what it is about; what stays as it is comes last. */
export function planLines({ partner, planId, changes, notes }: PlanView): string[] {
  const [adding, changing, taking] = (['+', '~', '-'] as const).map((op) => changes.filter((one) => one.op === op));
  const summary = [
    [adding, 'to add'],
    [changing, 'to change'],
    [taking, 'to take away'],
  ] as const;
  const counts = summary.flatMap(([list = [], words]) => (list.length > 0 ? [`${list.length} ${words}`] : []));
  return [
    ...changes.map(({ op, kind, detail }) => `  ${op} ${kind.padEnd(7)} ${detail}`),
    ...notes.map(({ kind, name, why }) => `  ! ${kind.padEnd(7)} ${name} ${why}`),
    changes.length === 0
      ? `partner ${partner}: nothing to do, ${notes.length === 0 ? 'everything is as its file says' : 'and what is marked with ! stays as it is'}`
      : `partner ${partner}: ${counts.join(', ') || `${counted(changes.length, 'thing')} to look after`} (plan ${planId})`,
  ];
}
