import { setTimeout as delay } from 'node:timers/promises';
import { despatchReceipt, errorReport } from '../../../src/contracts';
import { startKafka } from '../../../scripts/servers/index.mjs';
import { eventually } from '../../support/eventually';
import { produce, readAll, uniqueName } from '../../support/kafka';
import { answersOn, cancellationOf, journalOf, mixOf, recordFor, requestFor, start, topicsOf } from './fixture';

describe('the partner played by us', () => {
  it('answers each order by its rule and keeps a journal', async () => {
    const id = uniqueName('acme');
    const { requests, responses } = await topicsOf(id);
    start(id, { mix: mixOf('change', 'S-*=slow', 'R-*=reject', 'D-*=duplicate', 'G-*=garbage', 'N-*=silent') });
    await produce(requests, [
      ...['S-1', 'R-1', 'D-1', 'G-1', 'N-1', 'C-1'].map((number) => requestFor(number)),
      { value: 'x' },
    ]);
    const expected = ['S-1:AB', 'S-1:AP', 'R-1:RE', 'D-1:AP', 'D-1:AP', '-:garbage', 'G-1:AP', 'C-1:CA'];
    await eventually(async () => expect((await answersOn(responses)).toSorted()).toEqual(expected.toSorted()) ?? true);
    const kinds = journalOf(id).map((line) => line.kind);
    expect(kinds.filter((kind) => kind === 'seen')).toHaveLength(6);
    expect(kinds.filter((kind) => kind === 'unreadable')).toHaveLength(1);
    expect(kinds.filter((kind) => kind === 'answered')).toHaveLength(8);
  });

  it('answers a request that comes twice with the same message id', async () => {
    const id = uniqueName('acme');
    const { requests, responses } = await topicsOf(id);
    const partner = start(id);
    const request = requestFor('A-1', 'the-same');
    await produce(requests, [request, request]);
    await eventually(() => partner.statistics.answered === 2);
    const ids = (await readAll(responses)).map((record) => String(record.headers['ce_id']));
    expect(new Set(ids).size).toBe(1);
    expect(partner.statistics).toMatchObject({ seen: 2, repeated: 1 });
  });

  it('reads on where it had answered, after a restart', async () => {
    const id = uniqueName('acme');
    const { requests } = await topicsOf(id);
    const first = start(id);
    await produce(requests, [requestFor('A-1'), requestFor('A-2')]);
    await eventually(() => first.statistics.answered === 2);
    await first.stop();
    const second = start(id);
    await produce(requests, [requestFor('A-3')]);
    await eventually(() => second.statistics.answered >= 1);
    expect(second.statistics.seen).toBe(1);
  });

  it('stops whenever it is told to, also while it joins its group', async () => {
    const id = uniqueName('acme');
    await topicsOf(id);
    // The moments between its connection and its first record are milliseconds apart.
    for (let n = 0; n < 40; n++) {
      const partner = start(id, { group: `partner.${id}.group-${n}` });
      await delay(n * 4);
      await partner.stop();
    }
  });

  it('waits for topics that are not there yet', async () => {
    const id = uniqueName('acme');
    const partner = start(id);
    const { requests } = await topicsOf(id);
    await produce(requests, [requestFor('A-1')]);
    await eventually(() => partner.statistics.answered === 1);
  });

  it('answers everything, in order, although the broker is killed meanwhile', async () => {
    const kafka = await startKafka();
    const { brokers } = kafka;
    try {
      const { requests, responses } = await topicsOf('acme', brokers);
      const mix = mixOf('slow');
      const partner = start('acme', { brokers: [brokers], mix, journal: undefined, slowMs: 1000 });
      const numbers = Array.from({ length: 50 }, (_, index) => `K-${index}`);
      await produce(
        requests,
        numbers.map((number) => requestFor(number)),
        brokers,
      );
      await eventually(() => partner.statistics.answered >= 1);
      await kafka.kill();
      await kafka.restart();
      await eventually(() => partner.statistics.answered >= 100);
      const answers = await answersOn(responses, brokers);
      for (const number of numbers) {
        const own = [...new Set(answers.filter((answer) => answer.startsWith(`${number}:`)))];
        expect(own).toEqual([`${number}:AB`, `${number}:AP`]);
      }
      await partner.stop();
    } finally {
      await kafka.stop();
    }
  });

  it('agrees to cancel, and then writes nothing more for the order', async () => {
    const id = uniqueName('acme');
    const { requests, responses } = await topicsOf(id);
    start(id, { mix: mixOf('slow'), slowMs: 60_000 });
    await produce(requests, [requestFor('A-1')]);
    await eventually(async () => expect(await answersOn(responses)).toEqual(['A-1:AB']) ?? true);
    await produce(requests, [cancellationOf('A-1'), requestFor('A-2'), requestFor('KEEP-1'), cancellationOf('KEEP-1')]);
    const expected = ['A-1:AB', 'A-1:AP', 'A-2:AB', 'KEEP-1:AB', 'KEEP-1:RE'];
    await eventually(async () => expect((await answersOn(responses)).toSorted()).toEqual(expected) ?? true);
    const types = (await readAll(responses)).map(({ headers }) => String(headers['ce_type']));
    expect(types.filter((type) => type === 'parley.order-cancellation-response.v1')).toHaveLength(2);
    const decided = journalOf(id).flatMap((entry) => (entry.kind === 'cancelling' ? entry.decision : []));
    expect(decided.toSorted()).toEqual(['agree', 'refuse']);
  });

  it('withdraws an acceptance whose time had not come when it agreed to cancel', async () => {
    const id = uniqueName('acme');
    const { requests, responses } = await topicsOf(id);
    const partner = start(id, { mix: mixOf('slow'), slowMs: 8_000 });
    await produce(requests, [requestFor('A-1')]);
    await eventually(() => partner.statistics.answered === 1);
    await produce(requests, [cancellationOf('A-1')]);
    await eventually(() => journalOf(id).some(({ kind }) => kind === 'withdrawn'));
    expect((await readAll(responses)).map(({ headers }) => String(headers['ce_type']))).toEqual([
      'parley.order-response.v1',
      'parley.order-cancellation-response.v1',
    ]);
  });

  it('despatches, refuses to cancel what is on its way, and says the same when it reads everything again', async () => {
    const id = uniqueName('acme');
    const { requests, responses, advices } = await topicsOf(id);
    const options = { mix: mixOf('ship', 'C-*=slow'), slowMs: 60_000 };
    const first = start(id, { ...options, shipMs: 1500 });
    await produce(requests, [requestFor('A-1'), requestFor('C-1')]);
    // Two answers and the first of two parts.
    await eventually(() => first.statistics.answered >= 3);
    await produce(requests, [cancellationOf('A-1'), cancellationOf('C-1')]);
    await eventually(() => first.statistics.answered === 6);
    await first.stop();
    const idsOn = async (topic: string) => (await readAll(topic)).map(({ headers }) => String(headers['ce_id']));
    const [said, sent] = [await idsOn(responses), await idsOn(advices)];
    expect(await answersOn(responses)).toEqual(expect.arrayContaining(['A-1:AP', 'A-1:RE', 'C-1:AB', 'C-1:AP']));
    expect(new Set(sent).size).toBe(2);
    // Another group has committed nothing: as a partner that was killed before its first commit.
    const second = start(id, { ...options, group: `${id}.again`, slowMs: 0, shipMs: 500 });
    await eventually(() => second.statistics.cancellations === 2 && second.statistics.answered >= 5);
    expect(new Set(await idsOn(responses))).toEqual(new Set(said));
    expect(new Set(await idsOn(advices))).toEqual(new Set(sent));
  });

  it('writes receipts and error reports into its journal', async () => {
    const id = uniqueName('acme');
    const { receipts, errors } = await topicsOf(id);
    const partner = start(id);
    const [receipt] = despatchReceipt.examples.slice(-1);
    const [report] = errorReport.examples;
    await produce(receipts, [recordFor(despatchReceipt, '4500017', receipt ?? {}, 'receipt-1')]);
    await produce(errors, [recordFor(errorReport, '4500017', report, 'report-1')]);
    await eventually(() => partner.statistics.receipts === 1 && partner.statistics.reports === 1);
    await partner.stop();
    expect(journalOf(id)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ kind: 'receipt', order: '4500017', code: 'RE', reasonCode: 'over-delivery' }),
        expect.objectContaining({ kind: 'reported', code: 'invalid', pointer: '/responseCode', offset: '4711' }),
      ]),
    );
  });
});
