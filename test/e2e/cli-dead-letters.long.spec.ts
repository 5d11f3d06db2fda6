import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../support/eventually';
import { FailingOrders, type PlacedOrder } from '../support/failing-orders';

interface Letter {
  id: string;
  state: string;
  version: number;
  fingerprint: string;
  edits: { id: string; state: string }[];
}

const NOBODY: PlacedOrder = { orderNumber: '', correlationId: '' };

describe('dead letters on the command line', () => {
  let orders: FailingOrders;
  const folder = mkdtempSync(join(tmpdir(), 'parley-cli-'));
  beforeAll(async () => {
    // An edit counts when a second person agrees.
    orders = await FailingOrders.start({ DEAD_LETTER_APPROVAL: 'true' });
  }, 240_000);
  afterAll(async () => {
    await orders?.end();
    rmSync(folder, { recursive: true, force: true });
  });

  const show = (id: string) => orders.json<Letter>(['dead-letters', 'show', id]);
  const mended = ({ orderNumber }: PlacedOrder) => {
    const file = join(folder, `${orderNumber}.json`);
    writeFileSync(file, JSON.stringify({ orderNumber, responseCode: 'AP', issuedAt: '2026-03-01T10:00:00Z' }));
    return file;
  };
  const edit = (id: string, order: PlacedOrder) =>
    orders.run(['dead-letters', 'edit', id, '--document', mended(order), '--reason', 'no time']);

  it('are found, looked at, mended, agreed to and replayed, until the order is accepted', async () => {
    const [{ order, id } = { order: NOBODY, id: '' }] = await orders.dead(1);
    const { orderNumber } = order;

    const listed = await orders.run(['dead-letters', 'list', '--order', orderNumber]);
    expect(listed).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^ID {2}.*CODE.*\n.* invalid {2}\/issuedAt /) as string,
    });
    expect(listed.output).toContain(`Next: parley dead-letters show ${id}\n`);
    expect(await orders.json(['dead-letters', 'list', '--order', orderNumber])).toMatchObject([
      { id, code: 'invalid' },
    ]);

    const shown = await orders.run(['dead-letters', 'show', id]);
    expect(shown.stdout).toMatch(/^> {3}"issuedAt": "yesterday"$/m);
    expect(shown.stdout).toMatch(new RegExp(`^Order ${orderNumber}: placed\n.*placed`, 'm'));
    expect(shown.stdout).toMatch(/^ {2}ce_type {2,}parley\.order-response\.v1$/m);

    const changed = await edit(id, order);
    expect(changed).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^message \d+: edit \d+ pending\n$/) as string,
    });
    expect(changed.output).toContain('~ /issuedAt: "yesterday" → "2026-03-01T10:00:00Z"');
    expect(changed.output).toContain(`A second person agrees first: parley dead-letters approve ${id}`);
    expect((await orders.run(['dead-letters', 'approve', id])).code).toBe(5);
    const early = await orders.run(['dead-letters', 'replay', id, '--reason', 'mended', '--yes']);
    expect(early).toMatchObject({ code: 1, output: expect.stringContaining('skipped (edit-pending)') as string });
    expect((await orders.run(['dead-letters', 'approve', id, '--reason', 'checked'], 'admin')).code).toBe(0);

    const replayed = await orders.run(['dead-letters', 'replay', id, '--reason', 'mended', '--yes']);
    expect(replayed).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^replay +\S+ done\nprocessed +1\n/) as string,
    });
    expect(replayed.output).toContain('1 message would be sent again: ');
    expect(await orders.stateOf(order)).toBe('accepted');
    expect(await show(id)).toMatchObject({ state: 'processed', orderTimeline: { state: 'accepted' } });
  }, 240_000);

  it('stay as they are where the document that somebody gives is no JSON: its file and the place in it are named', async () => {
    const [{ order, id } = { order: NOBODY, id: '' }] = await orders.dead(1);
    const file = mended(order);
    writeFileSync(file, '{\n  "orderNumber": "1",\n  "responseCode": AP\n}');
    const { code, stdout, output } = await orders.run([
      'dead-letters',
      'edit',
      id,
      '--document',
      file,
      '--reason',
      'x',
    ]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(output).toMatch(
      /^parley: Nothing is changed: .*\.json is no JSON at line 3, column 19: Unexpected token 'A'\.\n/,
    );
    expect(output).toContain(file);
    expect((await show(id)).edits).toEqual([]);
  }, 240_000);

  it('say who changed one while it was being edited, change nothing, and end with 4', async () => {
    const [{ order, id } = { order: NOBODY, id: '' }] = await orders.dead(1);
    const args = ['dead-letters', 'edit', id, '--document', '-', '--reason', 'late'];
    const slow = orders.begin(args, 'operator', 'pipe');
    await eventually(() => slow.output.includes('standard input'), { what: 'it has looked at the message' });
    expect((await orders.run(['dead-letters', 'discard', id, '--reason', 'sent twice'], 'admin')).code).toBe(0);
    slow.child.stdin?.end(readFileSync(mended(order)));
    expect(await slow.finished()).toBe(4);
    const by = orders.keys.get('admin')?.id;
    expect(slow.output).toMatch(new RegExp(`It was dead and is discarded, by ${by} at .*: sent twice\\.`));
    expect(slow.stdout).toBe('');
    expect((await show(id)).edits).toEqual([]);

    expect((await orders.run(['dead-letters', 'restore', id, '--reason', 'it was not'])).stdout).toBe(
      `message ${id} dead\n`,
    );
  }, 240_000);

  it('are discarded by plan, which nobody answers without a terminal; what could not be makes it 3', async () => {
    const [first, second] = await orders.dead(2);
    const ids = [first?.id ?? '', second?.id ?? ''];
    const discard = ['dead-letters', 'discard', ...ids, '999999', '--reason', 'sent twice'];
    const asked = await orders.run(discard);
    expect(asked).toMatchObject({ code: 2, stdout: '', output: expect.stringContaining('say --yes') as string });
    expect(asked.output).toContain('2 messages would be discarded');
    expect(await show(ids[0] ?? '')).toMatchObject({ state: 'dead' });
    expect(await orders.json([...discard, '--yes'], 3)).toMatchObject([
      { id: ids[0], result: 'done' },
      { id: ids[1], result: 'done' },
      { id: '999999', result: 'failed', code: 'parked-unknown' },
    ]);
    expect(await show(ids[0] ?? '')).toMatchObject({ state: 'discarded' });
  }, 240_000);

  it('give the bytes of the record, and nothing else', async () => {
    const order = await orders.place();
    const value = await orders.answer(order, { issuedAt: 'gestern, Zürich' });
    const id = await orders.letterOf(order);
    expect((await orders.run(['dead-letters', 'show', id, '--raw', '-'])).stdout).toBe(value);
    const file = join(folder, 'value');
    const written = await orders.run(['dead-letters', 'show', id, '--raw', file]);
    expect(written).toMatchObject({ code: 0, stdout: '' });
    expect(readFileSync(file, 'utf8')).toBe(value);
  }, 240_000);

  it('are grouped by cause, which somebody takes and leaves a note on', async () => {
    const [letter] = await orders.dead(1);
    const { fingerprint } = await show(letter?.id ?? '');
    expect((await orders.run(['dead-letters', 'assign', fingerprint])).code).toBe(2);
    expect((await orders.run(['dead-letters', 'assign', fingerprint, '--to', 'Ada'], 'support')).code).toBe(0);
    expect((await orders.run(['dead-letters', 'note', fingerprint, '--text', 'clock of acme'])).code).toBe(0);
    const groups = await orders.json<{ fingerprint: string }[]>(['dead-letters', 'list', '--groups']);
    expect(groups).toContainEqual(expect.objectContaining({ fingerprint, assignee: 'Ada', note: 'clock of acme' }));
    const table = (await orders.run(['dead-letters', 'list', '--groups'])).stdout;
    expect(table).toMatch(new RegExp(`^${fingerprint} .* invalid .* /issuedAt .* Ada .* clock of acme$`, 'm'));
    expect((await orders.run(['dead-letters', 'list', '--group', fingerprint])).stdout).toContain(letter?.id);
  }, 240_000);

  it('are not replayed or mended with a key that may not, which ends with 5', async () => {
    const [letter] = await orders.dead(1);
    const id = letter?.id ?? '';
    const replay = ['dead-letters', 'replay', id, '--reason', 'x', '--yes'];
    for (const args of [replay, ['dead-letters', 'discard', id, '--reason', 'x']])
      expect(await orders.run(args, 'viewer')).toMatchObject({ code: 5, stdout: '' });
    const document = ['dead-letters', 'edit', id, '--document', mended(letter?.order ?? NOBODY), '--reason', 'x'];
    expect(await orders.run(document, 'support')).toMatchObject({ code: 5 });
    expect((await orders.run(['dead-letters', 'show', id], 'viewer')).stdout).toContain('role support and above');
  }, 240_000);

  it.each([
    ['nothing that says which', ['replay', '--reason', 'x', '--yes']],
    ['ids and a filter', ['replay', '1', '--all', '--reason', 'x', '--yes']],
    ['nobody to ask', ['replay', '1']],
    ['no terminal for an editor', ['edit', '1']],
    ['a look behind masks without a reason', ['show', '1', '--unmask']],
    ['a reason without one', ['show', '1', '--reason', 'x']],
    ['an id that is none', ['show', '../orders']],
    ['a time that is none', ['list', '--since', 'yesterday']],
    ['bytes as JSON', ['show', '1', '--raw', '-', '--json']],
  ])('end with 2 for %s', async (_, args) => {
    expect(await orders.run(['dead-letters', ...args])).toMatchObject({ code: 2, stdout: '' });
  });

  it('end with 1 and the next command where there is none of that id', async () => {
    const { code, output } = await orders.run(['dead-letters', 'show', '999999']);
    expect([code, output]).toEqual([1, expect.stringContaining('There is no such message.')]);
  });
});
