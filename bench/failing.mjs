import { emptyTables, openConsumer, query } from './failing/consumer.mjs';
import { Faults, handlerOf } from './failing/faults.mjs';
import { latencyRows } from './failing/latency.mjs';
import { makeRecords, PARTITIONS } from './failing/messages.mjs';
import { NaiveConsumer } from './failing/naive.mjs';
import { splitRows } from './failing/split.mjs';
import { timed, until } from './measure.mjs';
import { makeDatabase } from './parley.mjs';
import { dropDatabase, settle, withClient } from './servers.mjs';

export const title = 'Failing messages: Parley beside a consumer that tries again in place (no broker)';

const NAME = 'failing';
const percent = (share) => `${share * 100} %`;

/** Tries of one message before either gives it up. */
const ATTEMPTS = 6;

/**
 * Messages a second until all are applied; where some never can be, until each has a recorded outcome. `tailMs`: from there until
 * nothing waits for another try any more.
 */
async function parley(servers, partner, count, { decides, ...faults }) {
  const handler = handlerOf(new Faults(faults), query, { decides });
  const isHealed = faults.healMs !== Infinity;
  const consumer = await openConsumer(servers, NAME, handler, isHealed ? {} : { attempts: ATTEMPTS });
  const nothing = (...states) =>
    until('the drain', async () => (await consumer.parked(...states)) === 0, {
      everyMs: 10,
      progress: () => consumer.parked('waiting', 'held'),
    });
  try {
    consumer.drain.start();
    const records = makeRecords(partner, count);
    const ms = await timed(async () => {
      await consumer.feed(records);
      if (isHealed) await nothing('waiting', 'held', 'dead');
    });
    const tailMs = await timed(() => nothing('waiting'));
    return { perSecond: (count * 1000) / ms, tailMs, left: await consumer.parked('held', 'dead') };
  } finally {
    await consumer.close();
  }
}

/** For so long the other one runs: with many failing it would take minutes. */
async function naive(servers, partner, count, faults, ms) {
  const consumer = new NaiveConsumer(servers.postgres.url(NAME), new Faults(faults), { attempts: ATTEMPTS });
  try {
    return { perSecond: await consumer.run(makeRecords(partner, count), ms), given: consumer.given };
  } finally {
    await consumer.close();
  }
}

async function throughputRows({ servers, quick, report }, partner) {
  const count = quick ? 5_000 : 100_000;
  const seconds = quick ? 2 : 10;
  const fresh = () => withClient(servers.postgres.url(NAME), emptyTables).then(() => settle(servers));
  const none = {};
  const share = (part, more = {}) => ({ share: part, ...more });
  const cases = [
    { name: 'none failing', faults: {} },
    ...[0.001, 0.01, 0.1].map((part) => ({
      name: `${percent(part)} failing, healed after 150 ms`,
      faults: share(part),
    })),
    { name: `${percent(0.001)} failing for ever`, faults: share(0.001, { healMs: Infinity }) },
  ];
  const unit = 'messages/s';
  const oursWith = async (name, faults) => {
    await fresh();
    const { perSecond, tailMs, left } = await parley(servers, partner, count, faults);
    none.ours ??= perSecond;
    const row = {
      name: `Parley, ${name}`,
      value: perSecond,
      unit,
      ratio: perSecond / none.ours,
      ratioTo: 'none failing',
    };
    return {
      row,
      perSecond,
      tail: left > 0 ? `${left} dead or held behind a dead one ${Math.round(tailMs)} ms later` : '',
    };
  };
  for (const { name, faults } of cases) {
    const ours = await oursWith(name, faults);
    await fresh();
    const theirs = await naive(servers, partner, count, faults, seconds * 1000);
    none.theirs ??= theirs.perSecond;
    const times = `${(ours.perSecond / theirs.perSecond).toFixed(1)} times the naive consumer`;
    report({ ...ours.row, note: [times, ours.tail].filter(Boolean).join('; ') });
    const ratio = theirs.perSecond / none.theirs;
    report({
      ...{ name: `retry in place, ${name}`, value: theirs.perSecond, unit, ratio, ratioTo: 'none failing' },
      ...(theirs.given > 0
        ? { note: `${theirs.given} messages were logged and left; what followed them was applied` }
        : {}),
    });
  }
  for (const part of [0.01, 0.1]) {
    const name = `${percent(part)} failing by a decision (no exception), healed after 150 ms`;
    report((await oursWith(name, share(part, { decides: true }))).row);
  }
}

/** Five messages a key, twelve partitions. */
export async function run(context) {
  const { servers } = context;
  const [partner] = await makeDatabase(servers, NAME, { partners: 1, partitions: PARTITIONS });
  await throughputRows(context, partner);
  await splitRows(context, NAME, partner);
  await latencyRows(context, NAME, partner);
  await dropDatabase(servers, NAME);
  await settle(servers);
}
