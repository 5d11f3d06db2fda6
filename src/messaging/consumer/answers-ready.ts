import type { Documents } from './inspection';

/**
 * Resolves when what these contracts of the partner are answered with can be made without a network. A contract that answers another says
 * so itself: all that the handlers of a document may write is known without asking them.
 */
export async function answersReady(
  { contracts, outbox }: Pick<Documents, 'contracts' | 'outbox'>,
  asked: ReadonlySet<string>,
  partner: string,
): Promise<void> {
  if (asked.size === 0) return;
  for (const answer of contracts.values()) {
    if (answer.direction === 'out' && answer.answers !== undefined && asked.has(answer.answers)) {
      await outbox.ready(answer, partner);
    }
  }
}
