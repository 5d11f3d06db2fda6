import { AppError, messageOf } from '../platform/errors';
import { print } from './output';
import { exitCodeOf } from './exit-code';
import { type Column, table } from './terminal/table';

const PARTLY_FAILED = 3;

export interface BulkOutcome {
  id: string;
  result: 'done' | 'failed' | 'not-tried';
  code: string | null;
  detail: string | null;
}

/**
 * Does the same to several messages, one after the other. One that is refused doesn't hold up the rest; what would fail for all (the
 * key may not, nobody answers) ends it. Throws when none was done: with what the first one failed of.
 */
export async function bulk(
  ids: readonly string[],
  work: (id: string) => Promise<unknown>,
): Promise<{ outcomes: BulkOutcome[]; exitCode: number }> {
  const outcomes: BulkOutcome[] = [];
  let first: Error | undefined;
  let hopeless = false;
  for (const id of ids) {
    if (hopeless) {
      outcomes.push({ id, result: 'not-tried', code: null, detail: null });
      continue;
    }
    try {
      await work(id);
      outcomes.push({ id, result: 'done', code: null, detail: null });
    } catch (error) {
      first ??= error instanceof Error ? error : new Error(messageOf(error));
      hopeless = isHopeless(error);
      outcomes.push({ id, result: 'failed', ...told(error) });
    }
  }
  const done = outcomes.filter(({ result }) => result === 'done').length;
  if (first && done === 0 && (ids.length === 1 || hopeless)) throw first;
  return { outcomes, exitCode: done === ids.length ? 0 : done > 0 ? PARTLY_FAILED : exitCodeOf(first) };
}

function told(error: unknown): { code: string; detail: string } {
  const cause = error instanceof Error && error.cause !== undefined ? ` ${messageOf(error.cause)}` : '';
  return { code: error instanceof AppError ? error.code : 'failed', detail: `${messageOf(error)}${cause}` };
}

const isHopeless = (error: unknown): boolean =>
  !(error instanceof AppError) || error.code === 'api-unreachable' || exitCodeOf(error) === 5;

/** Prints what became of each, with columns of the command's own, and leaves the exit code: 3 when some failed. */
export function printBulk<T extends BulkOutcome>(
  json: boolean,
  { outcomes, exitCode }: { outcomes: readonly T[]; exitCode: number },
  own: readonly Column<T>[] = [],
): void {
  const columns: readonly Column<T>[] = [
    { title: 'ID', of: ({ id }) => id },
    { title: 'RESULT', of: ({ result }) => result.replace('-', ' ') },
    ...own,
    { title: 'WHY', of: ({ detail }) => detail },
  ];
  print(json, outcomes, table(columns, outcomes));
  process.exitCode = exitCode;
}
