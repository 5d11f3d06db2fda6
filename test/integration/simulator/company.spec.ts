import { companyCommand } from '../../../src/simulator/company/company-command';
import type { Step } from '../../../src/simulator/company/steps';
import { eventually } from '../../support/eventually';
import { produce, uniqueName } from '../../support/kafka';
import { journalOf, mixOf, start, topicsOf } from './fixture';

interface Summary {
  kind: 'summary';
  requests: number;
  answered: number;
  open: number;
  faults: number;
}

/** The company played towards `id`, and how to end it. */
function play(id: string, ...args: readonly string[]) {
  const lines: string[] = [];
  const said: string[] = [];
  let stop: () => void = () => undefined;
  const reach = ['--brokers', process.env['TEST_KAFKA_BROKERS'] ?? '', '--format', 'json', '--within-ms', '60000'];
  const code = companyCommand([id, ...reach, ...args], {
    env: {},
    out: (text) => lines.push(...text.trim().split('\n')),
    say: (line) => said.push(line),
    onStop: (stopIt) => (stop = stopIt),
  });
  const steps = () => lines.map((line) => JSON.parse(line) as Step | Summary);
  return { code, lines, said, steps, stop: () => stop() };
}

const kindsOf = (steps: readonly (Step | Summary)[]) => Object.groupBy(steps, ({ kind }) => kind);

describe('the company played by us', () => {
  it('orders and cancels, and says each exchange in a line', async () => {
    const id = uniqueName('acme');
    await topicsOf(id);
    start(id);
    const { code, lines } = play(id, '--scenario', 'cancel', '--orders', '3', '--rate', '50');
    expect({ code: await code, lines: (await code) === 0 ? [] : lines }).toEqual({ code: 0, lines: [] });
    expect(lines.filter((line) => /^→ SIM-\w+-\d {2}order$/.test(line))).toHaveLength(3);
    expect(lines.filter((line) => /^→ SIM-\w+-\d {2}cancellation$/.test(line))).toHaveLength(3);
    expect(lines.filter((line) => /^← SIM-\w+-\d {2}cancellation AP after \d+ ms$/.test(line))).toHaveLength(3);
    expect(lines.at(-1)).toBe(
      '6 requests: 6 settled, 0 without a final answer; 0 records that could not be read or accepted',
    );
  });

  it('writes a request twice, byte for byte, and takes the repeated answer for what it is', async () => {
    const id = uniqueName('acme');
    await topicsOf(id);
    start(id);
    const { code, steps } = play(id, '--scenario', 'duplicate', '--orders', '2', '--rate', '0', '--json');
    expect(await code).toBe(0);
    const { request = [], again = [], answer = [], fault } = kindsOf(steps());
    expect([request.length, again.length, fault]).toEqual([2, 2, undefined]);
    expect(answer.length).toBeGreaterThanOrEqual(2);
  });

  it('ends with 3 when some are not answered, and with 1 when none is', async () => {
    const id = uniqueName('acme');
    await topicsOf(id);
    start(id, { mix: mixOf('accept', 'SIM-*-2=silent') });
    const some = play(id, '--orders', '2', '--scenario', 'burst', '--within-ms', '12000', '--json');
    expect(await some.code).toBe(3);
    expect(some.steps().at(-1)).toMatchObject({ kind: 'summary', requests: 2, answered: 1, open: 1 });
    const none = play(uniqueName('nobody'), '--orders', '1');
    expect(await none.code).toBe(1);
    expect(none.said.join()).toContain('It is made when the partner is onboarded');
  });

  it('reports what cannot be read, also of an order that it never placed: a spoilt record of the kit, sent by hand', async () => {
    const id = uniqueName('acme');
    const { responses } = await topicsOf(id);
    start(id);
    const { code, steps, stop } = play(id, '--json', '--stay');
    await eventually(() => kindsOf(steps()).answer);
    const headers = { ce_id: 'bad-1', ce_type: 'parley.order-response.v1' };
    await produce(responses, [{ key: '4500017', value: '{}', headers }]);
    await eventually(() => journalOf(id).some(({ kind }) => kind === 'reported'));
    stop();
    expect(await code).toBe(3);
    expect(kindsOf(steps()).fault).toMatchObject([{ code: 'invalid', topic: responses }]);
  });

  it('answers despatch advices with receipts, and reports what it cannot read', async () => {
    const id = uniqueName('acme');
    await topicsOf(id);
    start(id, { mix: mixOf('over-ship', 'SIM-*-1=garbage') });
    const { code, steps, stop } = play(
      id,
      '--article',
      'X',
      '--orders',
      '2',
      '--scenario',
      'burst',
      '--json',
      '--stay',
    );
    await eventually(() => journalOf(id).filter(({ kind }) => kind === 'receipt').length === 2);
    await eventually(() => journalOf(id).some(({ kind }) => kind === 'reported'));
    stop();
    expect(await code).toBe(3);
    const { despatch = [], fault = [] } = kindsOf(steps());
    expect(despatch).toMatchObject([{ receiptCode: 'RE' }, { receiptCode: 'AP' }]);
    expect(fault).toMatchObject([{ code: 'undecodable', topic: `orders.${id}.response.v1` }]);
    const receipts = journalOf(id).flatMap((line) => (line.kind === 'receipt' ? [line.reasonCode ?? line.code] : []));
    expect(receipts).toEqual(['over-delivery', 'AP']);
  });
});
