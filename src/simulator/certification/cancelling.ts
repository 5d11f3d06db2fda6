import { TEST_ARTICLES } from '../articles';
import type { Prepared } from '../company/company-desk';
import { type Crossed, isSettled, judgeCancellations, judgeSequence } from './judging';
import { awaitFinal, fileOf, hasFault, numberOf, settle, type Stage } from './stage';
import type { Outcome } from './suite';

interface Pair {
  order: Prepared;
  cancellation: Prepared;
}

async function pairOf(stage: Stage, number: string): Promise<Pair> {
  const order = await stage.desk.order(number, [TEST_ARTICLES.AP]);
  return { order, cancellation: await stage.desk.cancellation(number) };
}

const crossedOf = (stage: Stage, { order, cancellation }: Pair): Crossed => ({
  ...{ order: order.exchange, cancellation: cancellation.exchange },
  file: fileOf(stage, order.exchange),
});

async function awaitSettled(stage: Stage, crossed: readonly Crossed[], withinMs: number): Promise<void> {
  const isDone = (one: Crossed) => isSettled(one) || hasFault(stage, one.order);
  await stage.desk.until(() => (crossed.every(isDone) ? true : undefined), withinMs);
  // An acceptance of what was cancelled would come behind.
  await settle(stage);
}

/** Many at once, each order with its cancellation right behind it, those of several orders mixed. */
export async function inOrder(stage: Stage): Promise<Outcome> {
  const { desk, patience } = stage;
  const pairs: Pair[] = [];
  for (let index = 1; index <= patience.burst; index++)
    pairs.push(await pairOf(stage, numberOf(stage, 'BURST', index)));
  const half = Math.ceil(pairs.length / 2);
  await desk.write(
    ...pairs.slice(0, half).flatMap(({ order, cancellation }) => [order, cancellation]),
    ...pairs.slice(half).map(({ order }) => order),
    ...pairs.slice(half).map(({ cancellation }) => cancellation),
  );
  const crossed = pairs.map((pair) => crossedOf(stage, pair));
  await awaitSettled(stage, crossed, patience.withinMs * 2);
  return judgeSequence(crossed);
}

/** Behind the answer; before it; and before it, twice. */
export async function crossing(stage: Stage): Promise<Outcome> {
  const { desk, patience } = stage;
  const [after, before, twice] = [
    await pairOf(stage, numberOf(stage, 'CANCEL', 1)),
    await pairOf(stage, numberOf(stage, 'CANCEL', 2)),
    await pairOf(stage, numberOf(stage, 'CANCEL', 3)),
  ];
  await desk.write(after.order);
  await awaitFinal(stage, after.order.exchange);
  await desk.write(after.cancellation);
  await desk.write(before.order, before.cancellation);
  await desk.write(twice.order, twice.cancellation, twice.cancellation);
  const crossed = [
    { what: 'cancelled after the answer', ...crossedOf(stage, after) },
    { what: 'cancelled before the answer', ...crossedOf(stage, before) },
    { what: 'cancelled before the answer, the cancellation written twice', ...crossedOf(stage, twice) },
  ];
  await awaitSettled(stage, crossed, patience.withinMs);
  return judgeCancellations(crossed);
}
