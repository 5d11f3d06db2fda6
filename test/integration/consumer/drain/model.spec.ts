import { randomInt, randomUUID } from 'node:crypto';
import { StaffDesk } from '../../../../src/messaging/consumer';
import type { InboundRecord } from '../../../../src/messaging/kafka';
import type { Tx } from '../../../../src/platform/database';
import { uniqueName } from '../../../support/kafka';
import {
  addPartner,
  addShipments,
  type Decide,
  ELSEWHERE,
  NOTE,
  openWorld,
  STEP,
  Tape,
  TestBatch,
  type World,
} from '../harness';
import { processorWith } from './drain-harness';
import { ATTEMPTS, type Fate, ModelKey, type ModelMessage, type State } from './model';
import { differencesOf, type Game, nameOf, type ParkedRow } from './model-tables';
import { Drains } from './model-drains';
import { Suspensions } from './model-suspensions';
import { type Random, seeded } from './seeded';

const SEED = Number(process.env['MODEL_SEED'] ?? randomInt(1e9));
/** Games of one key each; a round gives each of them one command. */
const GAMES = Number(process.env['MODEL_GAMES'] ?? 3_000);
const ROUNDS = 12;

/** No message becomes due by itself within the test. */
const DAY = 24 * 60 * 60_000;
const retry = { initialMs: 30 * DAY, maxMs: 30 * DAY, attempts: ATTEMPTS, maxAgeMs: 400 * DAY };
const contracts = [STEP, NOTE, ELSEWHERE].map((contract) => ({ ...contract, retry }));
const BY = { caller: 'key_test', reason: 'by plan' };

const COMMANDS = { arrive: 3, repeat: 1, time: 2, release: 3, discard: 1, restore: 1, edit: 1, mend: 2 };
type Command = keyof typeof COMMANDS;

/** Plays many games at once in one database: their commands of one kind go into it together. */
class Arena {
  readonly desk = new StaffDesk();
  readonly suspensions: Suspensions;
  private readonly drains: Drains;
  private readonly fates = new Map<string, Fate>();
  private rows = new Map<string, ParkedRow>();

  constructor(
    readonly world: World,
    readonly random: Random,
    readonly games: readonly Game[],
    readonly partners: readonly string[],
  ) {
    this.suspensions = new Suspensions(world.database, random, games, partners);
    this.drains = new Drains(world, random, contracts, (message) => this.decide(message));
  }

  readonly decide: Decide = ({ id }) => {
    const fate = this.fates.get(id) ?? 'applied';
    if (fate === 'throws') throw new Error('by plan');
    return fate === 'applied' ? undefined : { kind: fate, code: 'planned', detail: '' };
  };

  async round(): Promise<void> {
    await this.suspensions.some();
    for (const game of this.games) game.commands.push(this.random.weighted<Command>(COMMANDS));
    const commands = Map.groupBy(this.games, (game) => game.commands.at(-1) as Command);
    const of = (command: Command) => commands.get(command) ?? [];
    await this.arrivals([...of('arrive'), ...of('repeat')], new Set(of('repeat')));
    await this.look();
    await this.timePasses(of('time'));
    for (const game of of('mend')) this.mend(game);
    await this.staff(of('release'), (tx, games) => this.release(tx, games));
    await this.staff(of('discard'), (tx, games) => this.each(tx, games, 'dead', this.discard));
    await this.staff(of('restore'), (tx, games) => this.each(tx, games, 'discarded', this.restore));
    await this.staff(of('edit'), (tx, games) => this.each(tx, games, 'dead', this.edit));
    await this.drain();
  }

  /** Everybody is served again, and what was kept is drained. */
  async resumeAll(): Promise<void> {
    await this.suspensions.end();
    await this.drain();
  }

  /** Who is served may be suspended and resumed meanwhile: the last drain goes on. */
  private async drain(): Promise<void> {
    for (const { model } of this.games) model.drain();
    await this.drains.all(() => this.suspensions.flicker());
  }

  private async arrivals(games: readonly Game[], repeating: ReadonlySet<Game>): Promise<void> {
    const processor = processorWith(this.world, this.decide, contracts);
    const records = games.flatMap((game) => {
      const again = repeating.has(game) ? game.sent[this.random.below(Math.max(1, game.sent.length))] : undefined;
      return again ?? Array.from({ length: 1 + this.random.below(3) }, () => this.send(game));
    });
    const batches = [...Map.groupBy(records, ({ topic }) => topic).values()].map((some) => new TestBatch(some));
    await Promise.all(batches.map((batch) => processor.process(batch)));
    await processor.close();
  }

  private send({ model, partner, tape, sent }: Game): InboundRecord {
    const isElsewhere = tape.topic.startsWith('shipments');
    const isNote = !isElsewhere && this.random.below(5) === 0;
    const isGarbage = this.random.below(12) === 0;
    const fate = this.random.weighted<Fate>({ applied: 120, retry: 50, dead: 28, throws: 1 });
    const id = `${isElsewhere ? 's' : 'o'}${this.partners.indexOf(partner)}-${model.key}-${sent.length}`;
    this.fates.set(id, fate);
    model.arrive(id, fate, { isGarbage, isNote });
    const record = tape.record({
      id,
      key: model.key,
      contract: isElsewhere ? ELSEWHERE : isNote ? NOTE : STEP,
      ...(isGarbage ? { value: 'garbage' } : {}),
    });
    sent.push(record);
    return record;
  }

  /** Whatever failed would go well now, or otherwise than before. */
  private mend({ model }: Game): void {
    for (const message of model.messages) {
      message.fate = this.random.weighted<Fate>({ applied: 80, retry: 10, dead: 10 });
      this.fates.set(message.editId ?? message.id, message.fate);
    }
  }

  /** By itself, or since staff want what waits tried now. */
  private async timePasses(games: readonly Game[]): Promise<void> {
    const [own, wanted] = [0, 1].map((half) => games.filter((_, index) => index % 2 === half)) as [Game[], Game[]];
    const waiting = wanted.flatMap(({ model }) => model.in('waiting').map(({ id }) => this.row(id).id));
    for (const { model } of games) model.makeDue();
    await this.world.database.query(
      `UPDATE parked_inbound SET next_attempt_at = now() WHERE state = 'waiting' AND topic || ' ' || key = ANY(:names::text[])`,
      { names: own.map(({ model }) => nameOf(model)) },
    );
    const due = await this.world.database.transaction((tx) => this.desk.retryNow(tx, waiting, new Date()));
    expect(due.toSorted()).toEqual(waiting.toSorted());
  }

  private async look(): Promise<void> {
    const rows = await this.world.database.query<ParkedRow>(
      `SELECT id, topic, key, message_id AS "messageId", state, attempts, version FROM parked_inbound ORDER BY id`,
    );
    this.rows = new Map(rows.map((row) => [row.messageId, row]));
  }

  /** Some games' verbs in one transaction, and several of those side by side. */
  private async staff(games: readonly Game[], work: (tx: Tx, games: readonly Game[]) => Promise<void>): Promise<void> {
    const shares = Object.values(Object.groupBy(games, (_, index) => String(index % 3)));
    await Promise.all(shares.map((share) => this.world.database.transaction((tx) => work(tx, share ?? []))));
  }

  private async release(tx: Tx, games: readonly Game[]): Promise<void> {
    const chosen = games.flatMap(({ model }) =>
      model
        .in('dead')
        .filter(() => this.random.below(3) > 0)
        .map((message) => ({ model, message })),
    );
    const wanted = new Set(chosen.map(({ message }) => message.id));
    const released = new Set([...new Set(chosen.map(({ model }) => model))].flatMap((model) => model.release(wanted)));
    const results = await this.desk.release(
      tx,
      [...wanted].map((id) => this.row(id).id),
      randomUUID(),
      new Date(),
    );
    for (const id of wanted) {
      expect([id, results.get(this.row(id).id)]).toEqual([id, released.has(id) ? 'released' : 'behind']);
    }
  }

  private async each(
    tx: Tx,
    games: readonly Game[],
    state: State,
    verb: (tx: Tx, model: ModelKey, message: ModelMessage) => Promise<void>,
  ): Promise<void> {
    for (const { model } of games) {
      const candidates = model.in(state);
      const message = candidates[this.random.below(Math.max(1, candidates.length))];
      if (message) await verb.call(this, tx, model, message);
    }
  }

  private async discard(tx: Tx, model: ModelKey, message: ModelMessage): Promise<void> {
    const { id, version } = this.row(message.id);
    await this.desk.discard(tx, id, version, BY, new Date());
    model.discard(message);
  }

  private async restore(tx: Tx, model: ModelKey, message: ModelMessage): Promise<void> {
    const { id, version } = this.row(message.id);
    await this.desk.restore(tx, id, version, BY, new Date());
    model.restore(message);
  }

  private async edit(tx: Tx, model: ModelKey, message: ModelMessage): Promise<void> {
    const { id, version } = this.row(message.id);
    const edit = { parkedId: id, messageId: randomUUID(), document: { orderNumber: model.key }, diff: [] };
    await this.desk.edit(tx, { ...edit, reason: 'r', madeBy: 'key_test', state: 'approved' }, version, new Date());
    message.editId = edit.messageId;
    this.fates.set(edit.messageId, message.fate);
  }

  private row(messageId: string): ParkedRow {
    return this.rows.get(messageId) as ParkedRow;
  }

  async differences(): Promise<string[]> {
    await this.look();
    return differencesOf(this.world.database, this.games, [...this.rows.values()]);
  }
}

test('any interleaving of arrivals, failures, retries, releases, discards, restores, edits, suspensions and crashes keeps the order of each key', async () => {
  const world = await openWorld();
  const random = seeded(SEED);
  // To play the same games again.
  console.info(`MODEL_SEED=${SEED}`);
  const partners = [uniqueName('p'), uniqueName('p')];
  const tapes: Tape[] = [];
  for (const partner of partners) {
    tapes.push(new Tape(await addPartner(world, partner)), new Tape(await addShipments(world, partner)));
  }
  const games = Array.from({ length: GAMES }, (_, index): Game => {
    const tape = tapes[index % 4] as Tape;
    const partner = partners[(index % 4) >> 1] as string;
    // The same key on all topics: there they have nothing to do with each other.
    return { model: new ModelKey(tape.topic, `order-${index >> 2}`), partner, tape, sent: [], commands: [] };
  });
  const arena = new Arena(world, random, games, partners);
  try {
    for (let round = 0; round < ROUNDS; round++) {
      await arena.round();
      const differences = await arena.differences();
      if (differences.length > 0)
        throw new Error(`MODEL_SEED=${SEED}, round ${round}:\n${differences.slice(0, 3).join('\n')}`);
    }
    await arena.resumeAll();
    expect(await arena.differences()).toEqual([]);
    expect(await world.database.query('SELECT 1 FROM parked_key_end')).toEqual([]);
    expect(
      games.filter(({ model }) => model.messages.some(({ state }) => state === 'processed')).length,
    ).toBeGreaterThan(GAMES / 5);
  } finally {
    await world.close();
  }
}, 180_000);
