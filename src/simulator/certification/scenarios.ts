import { orderRequest, typeOf } from '../../contracts';
import { TEST_ARTICLES } from '../articles';
import type { Prepared } from '../company/company-desk';
import { FAULTS } from '../company/faults';
import { tryForbidden } from './acl-trials';
import { crossing, inOrder } from './cancelling';
import { answersOf, finalOf, judgeAnswer, judgeMalformed, judgeRepeated, KEEP_TO_THE_ORDER } from './judging';
import { withUnknownField } from './newer-schema';
import { awaitFinal, fenceBeside, fileOf, hasFault, numberOf, type Scenario, settle, type Stage } from './stage';
import { failed, type Outcome, passed, skipped } from './suite';

/**
 * The list, in the order in which it is played: `connect` first, for nothing goes on without an answer; `schema` last, for it looks back
 * on everything, also on what came behind the end of its own scenario.
 */
export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'connect',
    title: 'The system answers at all',
    expected: ({ connectMs }) => `an answer to one order (article ${TEST_ARTICLES.AP}) within ${connectMs} ms`,
    play: connect,
  },
  {
    name: 'acl',
    title: 'The account can do nothing that is not its own',
    expected: () =>
      'the broker refuses to let it write as us, see what is not its own, make topics, use foreign groups',
    play: tryForbidden,
  },
  ...(['AP', 'RE', 'CA'] as const).map((code) => answering(code)),
  {
    name: 'same-request-twice',
    title: 'The same request twice has one effect',
    expected: () => 'one final answer; to the repeat the same answer under the same ce_id, or none',
    play: sameTwice,
  },
  {
    name: 'unknown-field',
    title: 'An optional field of a later version is tolerated',
    expected: ({ withinMs }) => `AP within ${withinMs} ms to an order with one field more than the contract`,
    play: unknownField,
  },
  {
    name: 'malformed-request',
    title: "A request that can't be read stops nothing",
    expected: () => 'what breaks the contract is not accepted, and the order behind it is answered',
    play: malformed,
  },
  {
    name: 'order-per-key',
    title: 'Messages of one order are handled in their order, also in a burst',
    expected: ({ burst }) => `${burst} orders, each with its cancellation right behind it, answered in that order`,
    play: inOrder,
  },
  {
    name: 'cancellation-crossing',
    title: 'Cancellation and answer cross, and both sides end the same',
    expected: () => 'one answer to each cancellation; after AP to it no acceptance and no despatch',
    play: crossing,
  },
  {
    name: 'broker-restart',
    title: 'A restart of the broker loses and repeats nothing',
    expected: () => 'every order answered, once, though the broker restarts meanwhile',
    play: brokerRestart,
  },
  {
    name: 'schema',
    title: 'Every record keeps its contract, and every word is kept',
    expected: () =>
      'format, schema id, headers, key and correlation of everything that came are as agreed; nothing contradicts what was said before',
    play: schema,
  },
];

function answering(code: 'AP' | 'RE' | 'CA'): Scenario {
  const [name, title] = {
    AP: ['accept', 'An order is accepted in time'],
    RE: ['reject', 'An order is rejected'],
    CA: ['change', 'An order is accepted with a change'],
  }[code] as [string, string];
  return {
    ...{ name, title },
    expected: ({ withinMs }) => `${code} to an order of the article ${TEST_ARTICLES[code]} within ${withinMs} ms`,
    play: async (stage) => {
      const order = await stage.desk.order(numberOf(stage, name.toUpperCase()), [TEST_ARTICLES[code], 'CERT-OTHER']);
      await stage.desk.write(order);
      await awaitFinal(stage, order.exchange);
      return judgeAnswer(order.exchange, fileOf(stage, order.exchange), code, stage.patience.withinMs);
    },
  };
}

async function connect(stage: Stage): Promise<Outcome> {
  const { desk, patience } = stage;
  await desk.start();
  const order = await desk.order(numberOf(stage, 'CONNECT'), [TEST_ARTICLES.AP]);
  await desk.write(order);
  const any = await desk.until(
    () => (order.exchange.answers.length > 0 || hasFault(stage, order.exchange) ? true : undefined),
    patience.connectMs,
  );
  const seen = `${order.exchange.order}: ${answersOf(order.exchange)}`;
  if (any) return passed(seen);
  const next = `See that the system runs, reads ${desk.requestTopic} in a group that begins with partner.${desk.party.id}. and from its beginning, and writes its answers.`;
  return failed([seen], next);
}

async function sameTwice(stage: Stage): Promise<Outcome> {
  const { desk } = stage;
  const order = await desk.order(numberOf(stage, 'TWICE'), [TEST_ARTICLES.AP]);
  const fence = await fenceBeside(stage, order.exchange.order, 'TWICE');
  await desk.write(order, order);
  await awaitFinal(stage, order.exchange);
  // Also when it is answered already: a system that forgets sees only now that it has met this before.
  await desk.write(order, fence);
  await awaitFinal(stage, fence.exchange);
  await settle(stage);
  return judgeRepeated(order.exchange, fileOf(stage, order.exchange), fence.exchange);
}

async function unknownField(stage: Stage): Promise<Outcome> {
  const { desk, patience } = stage;
  const order = await desk.order(numberOf(stage, 'FIELD'), [TEST_ARTICLES.AP]);
  const later = await withUnknownField(order.record, desk.party, desk.registry);
  if (!later) {
    const next =
      'Have it registered: "parley certify --publish-later-schema" adds one version to the subject of the request topic; in the sandbox of the kit, sandbox/register-schemas.mjs does.';
    return skipped('the schema of a later version is not in the registry', next);
  }
  order.record = later;
  await desk.write(order);
  await awaitFinal(stage, order.exchange);
  const outcome = judgeAnswer(order.exchange, fileOf(stage, order.exchange), 'AP', patience.withinMs);
  if (outcome.verdict !== 'failed' || hasFault(stage, order.exchange)) return outcome;
  return { ...outcome, next: 'Ignore fields that you do not know; read with the schema that the record names.' };
}

async function malformed(stage: Stage): Promise<Outcome> {
  const { desk } = stage;
  const tried: Parameters<typeof judgeMalformed>[0][number][] = [];
  const broken = {
    'bytes that are no document': () => ({ value: Buffer.from('ff00fe8081c0', 'hex') }),
    'a quantity that is no number': (value: Buffer) => ({ value: withComma(value) }),
    'a type of document that nobody knows': (_: Buffer, headers: Record<string, string>) => ({
      headers: { ...headers, ce_type: `${typeOf(orderRequest)}.certification` },
    }),
  };
  for (const [index, [what, breaking]] of Object.entries(broken).entries()) {
    const bad = await desk.order(numberOf(stage, 'MALFORMED', index + 1), [TEST_ARTICLES.AP], QUANTITY);
    const fence = await fenceBeside(stage, bad.exchange.order, `MALFORMED-${index + 1}`);
    bad.record = { ...bad.record, ...breaking(bad.record.value, bad.record.headers) };
    await desk.write(bad, fence);
    await awaitFinal(stage, fence.exchange);
    tried.push({ what, bad: bad.exchange, fence: fence.exchange });
    // What stopped at one would fail at all that follow.
    if (!finalOf(fence.exchange)) break;
  }
  await settle(stage);
  return judgeMalformed(tried);
}

const QUANTITY = '2.125';

/** As long as before, so that it stays what the format asks for. */
function withComma(value: Buffer): Buffer {
  const bytes = Buffer.from(value);
  bytes.write(QUANTITY.replace('.', ','), bytes.indexOf(QUANTITY));
  return bytes;
}

async function brokerRestart(stage: Stage): Promise<Outcome> {
  const { desk, sandbox, patience } = stage;
  if (!sandbox) {
    return skipped('the broker is not one that this certification started', 'Use --sandbox, which starts one.');
  }
  const orders: Prepared[] = [];
  for (let index = 1; index <= 10; index++)
    orders.push(await desk.order(numberOf(stage, 'RESTART', index), [TEST_ARTICLES.AP]));
  const [before, after] = [orders.slice(0, 5), orders.slice(5)];
  await desk.write(...before);
  const restarting = sandbox.restartBroker();
  await desk.write(...after);
  await restarting;
  await desk.until(() => (orders.every(({ exchange }) => finalOf(exchange)) ? true : undefined), patience.connectMs);
  await settle(stage);
  const wrong = orders
    .map(({ exchange }) => judgeAnswer(exchange, fileOf(stage, exchange), 'AP', Infinity))
    .find(({ verdict }) => verdict === 'failed');
  const answered = orders.filter(({ exchange }) => finalOf(exchange)).length;
  const seen = `${orders.length} orders written around the restart, ${answered} answered`;
  return wrong ? { ...wrong, seen: [seen, ...wrong.seen] } : passed(seen);
}

async function schema(stage: Stage): Promise<Outcome> {
  await settle(stage);
  const { ledger } = stage.desk;
  const { faults } = ledger;
  const [first] = faults;
  const refusals = [...ledger.orders].flatMap(([order, file]) => file.refusals.map((words) => `${order}: ${words}`));
  if (!first) {
    if (refusals.length > 0) return failed(refusals, KEEP_TO_THE_ORDER);
    const answers = [...ledger.exchanges.values()].reduce((sum, exchange) => sum + exchange.answers.length, 0);
    return passed(`${answers} answers, none of which broke its contract`);
  }
  const seen = faults.slice(0, 10).map(({ fault: { code, detail, pointer }, heard: { topic, partition, offset } }) => {
    const where = pointer === undefined ? '' : ` (${pointer})`;
    return `${topic}/${partition} offset ${offset}: ${code}, ${detail}${where}`;
  });
  if (faults.length > seen.length) seen.push(`and ${faults.length - seen.length} more`);
  return failed([...seen, ...refusals], FAULTS[first.fault.code].next);
}
