import type { InboundRecord } from '../../../../src/messaging/kafka';
import type { Database } from '../../../../src/platform/database';
import type { Tape } from '../harness';
import type { ModelKey, State } from './model';

export interface Game {
  model: ModelKey;
  partner: string;
  tape: Tape;
  sent: InboundRecord[];
  /** For who looks for a difference. */
  commands: string[];
}

export interface ParkedRow {
  id: string;
  topic: string;
  key: string;
  messageId: string;
  state: State;
  attempts: number;
  version: number;
}

export const nameOf = ({ topic, key }: { topic: string; key: string }): string => `${topic} ${key}`;

/** What differs between the tables and the model, key by key. */
export async function differencesOf(
  database: Database,
  games: readonly Game[],
  rowsFound: readonly ParkedRow[],
): Promise<string[]> {
  const rows = Map.groupBy(rowsFound, nameOf);
  const effects = Map.groupBy(
    await database.query<{ message: string; key: string }>(
      'SELECT message_id AS message, order_number AS key FROM effect ORDER BY n',
    ),
    ({ message, key }) => `${message.split(' ')[0]} ${key}`,
  );
  const parked = new Set(
    (
      await database.query<{ topic: string; key: string }>(
        'SELECT topic, key FROM parked_key k JOIN channel c ON c.id = k.channel_id',
      )
    ).map(nameOf),
  );
  return games.flatMap(({ model, commands }) => {
    const expected = {
      parked: model.isParked,
      effects: model.effects,
      free: model.freeEffects.toSorted(),
      messages: model.messages.flatMap(({ id, state, attempts }) =>
        state ? [`${id} ${state} ${state === 'waiting' || state === 'held' ? attempts : ''}`] : [],
      ),
    };
    const name = nameOf(model);
    const ids = (effects.get(name) ?? []).map(({ message }) => message.split(' ')[1] as string);
    const isFree = (id: string) => model.freeEffects.includes(id);
    const actual = {
      parked: parked.has(name),
      effects: ids.filter((id) => !isFree(id)),
      free: ids.filter(isFree).toSorted(),
      messages: (rows.get(name) ?? []).map(
        ({ messageId, state, attempts }) =>
          `${messageId} ${state} ${state === 'waiting' || state === 'held' ? attempts : ''}`,
      ),
    };
    const [want, have] = [JSON.stringify(expected, null, 1), JSON.stringify(actual, null, 1)];
    return want === have ? [] : [`${name}\n${commands.join(' ')}\nexpected ${want}\nfound ${have}`];
  });
}
