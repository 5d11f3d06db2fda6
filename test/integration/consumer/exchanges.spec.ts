import { pino } from 'pino';
import { Exchanges, ownExchange } from '../../../src/messaging/exchanges';
import { type Tx } from '../../../src/platform/database';
import { uniqueName } from '../../support/kafka';
import { addPartner, lockWaiters, openWorld, type World } from './harness';
import { eventually } from '../../support/eventually';

describe('the exchange ledger', () => {
  let world: World;
  let partner: string;
  const lines: Record<string, unknown>[] = [];
  const logger = pino(
    { level: 'info' },
    { write: (line: string) => void lines.push(JSON.parse(line) as (typeof lines)[0]) },
  );
  const exchanges = new Exchanges(logger);
  const at = new Date('2026-03-01T12:00:00.123Z');

  beforeAll(async () => {
    world = await openWorld();
  });
  afterAll(() => world.close());
  beforeEach(async () => {
    partner = uniqueName('p');
    await addPartner(world, partner);
    lines.length = 0;
  });

  const open = (correlationId: string, owner = partner, direction: 'out' | 'in' = 'out') =>
    world.database.transaction((tx) =>
      exchanges.open(tx, [
        {
          correlationId,
          partner: owner,
          direction,
          kind: 'order-request',
          orderNumber: 'order-1',
          requestMessageId: 'm-1',
          requestSeq: '9007199254740993',
          deadline: at,
          openedAt: at,
        },
      ]),
    );
  const lock = (ids: string[], own = partner) =>
    world.database.transaction((tx) => exchanges.lock(tx, own, 'out', ids));

  test('opens an exchange and gives it back as it was, its numbers exact', async () => {
    const id = uniqueName('c');
    await open(id);
    const found = ownExchange(await lock([id, id]), partner, id);
    expect(found).toMatchObject({
      ok: true,
      exchange: {
        state: 'awaiting',
        requestSeq: '9007199254740993',
        orderNumber: 'order-1',
        deadline: at,
        openedAt: at,
        resends: 0,
      },
    });
  });

  test('records an interim answer and then the last one; of several in one list the last stands', async () => {
    const id = uniqueName('c');
    await open(id);
    const answer = (state: 'acknowledged' | 'answered', code: string, messageId: string) => ({
      correlationId: id,
      partner,
      direction: 'out' as const,
      state,
      code,
      messageId,
      at,
    });
    await world.database.transaction((tx) => exchanges.answer(tx, [answer('acknowledged', 'AB', 'm-2')]));
    expect((await lock([id])).get(id)).toMatchObject({ state: 'acknowledged', answerCode: 'AB', answeredAt: at });
    await world.database.transaction((tx) =>
      exchanges.answer(tx, [answer('acknowledged', 'AB', 'm-3'), answer('answered', 'AP', 'm-4')]),
    );
    expect((await lock([id])).get(id)).toMatchObject({ state: 'answered', answerCode: 'AP', answerMessageId: 'm-4' });
  });

  test('names an unknown, a missing and a foreign correlation id apart, without telling whose it is', async () => {
    const [other, foreign] = [uniqueName('other'), uniqueName('c')];
    await addPartner(world, other);
    await open(foreign, other);
    const found = await lock([foreign, 'unheard-of']);
    const outcomes = [foreign, 'unheard-of', undefined].map((id) => ownExchange(found, partner, id));
    expect(outcomes).toMatchObject([
      { ok: false, outcome: { kind: 'dead', code: 'exchange-foreign' } },
      { ok: false, outcome: { kind: 'dead', code: 'exchange-unknown' } },
      { ok: false, outcome: { kind: 'dead', code: 'correlation-missing' } },
    ]);
    expect(JSON.stringify(outcomes)).not.toContain(other);
    expect(lines).toMatchObject([
      { level: 40, security: true, code: 'exchange-foreign', partner, owner: other, correlation_id: foreign },
    ]);
  });

  test('an answer changes nothing of another partner that uses the same correlation id', async () => {
    const [other, id] = [uniqueName('other'), uniqueName('c')];
    await addPartner(world, other);
    await open(id);
    await open(id, other);
    await world.database.transaction((tx) =>
      exchanges.answer(tx, [
        { correlationId: id, partner: other, direction: 'out', state: 'answered', code: 'AP', messageId: 'm', at },
      ]),
    );
    expect((await lock([id])).get(id)).toMatchObject({ partner, state: 'awaiting' });
    expect((await lock([id], other)).get(id)).toMatchObject({ partner: other, state: 'answered' });
  });

  test('looks once more, in a new statement, before an id is unknown', async () => {
    const id = uniqueName('c');
    const found = await world.database.transaction(async (tx) => {
      let statements = 0;
      const watched = Object.create(tx) as Tx;
      watched.query = async <Row>(sql: string, parameters?: unknown[]): Promise<Row> => {
        const rows = await tx.query<Row>(sql, parameters);
        if (++statements === 1) await open(id);
        return rows;
      };
      const locked = await exchanges.lock(watched, partner, 'out', [id]);
      const rival = lock([id]);
      await eventually(() => lockWaiters(world), { what: 'the row found at the second look is locked' });
      return { locked, rival };
    });
    expect(ownExchange(found.locked, partner, id)).toMatchObject({ ok: true });
    await found.rival;
  });

  test('a request of ours is not an exchange in the other direction', async () => {
    const id = uniqueName('c');
    await open(id, partner, 'in');
    expect(ownExchange(await lock([id]), partner, id)).toMatchObject({ outcome: { code: 'exchange-unknown' } });
  });
});
