import { pbkdf2, randomBytes, randomInt } from 'node:crypto';
import { promisify } from 'node:util';
import {
  alterUserScramCredentialsV0,
  type Connection,
  describeUserScramCredentialsV0,
  ScramMechanisms,
} from '@platformatic/kafka';
import { brokerSays } from '../admin-error';
import type { SecurityClient } from './security-client';

const MECHANISM = ScramMechanisms.SCRAM_SHA_512;
const KEY_BYTES = 64;
const SALT_BYTES = 32;
/** The broker takes from 4,096 to 16,384. */
const LEAST_ITERATIONS = 8_192;
const MOST_ITERATIONS = 16_384;

const derive = promisify(pbkdf2);

/** Users of SCRAM-SHA-512 at the broker. It is told the salted password only, and tells nothing but its iterations. */
export class ScramUsers {
  constructor(private readonly client: SecurityClient) {}

  list(names?: readonly string[]): Promise<ReadonlySet<string>> {
    return this.client.asked('list accounts', 'Describe on the cluster', async () => {
      const all = await this.client.onOne(iterationsByUser);
      return new Set(names?.filter((name) => all.has(name)) ?? all.keys());
    });
  }

  put({ username, password }: { username: string; password: string }): Promise<void> {
    return this.client.asked(`set the password of account ${username}`, 'Alter on the cluster', async () => {
      const known = (await this.client.onOne(iterationsByUser)).get(username);
      // Not the number of the password before: by it a broker shows which of the two it knows.
      const iterations = otherThan(known);
      const salt = randomBytes(SALT_BYTES);
      const saltedPassword = await derive(password, salt, iterations, KEY_BYTES, 'sha512');
      const user = { name: username, mechanism: MECHANISM, iterations, salt, saltedPassword };
      await this.client.onOne((broker) => alterUserScramCredentialsV0.api.async(broker, [], [user]));
      await this.client.settled(
        `The password of account ${username}`,
        async (broker) => (await iterationsByUser(broker)).get(username) === iterations,
      );
    });
  }

  delete(username: string): Promise<void> {
    return this.client.asked(`delete account ${username}`, 'Alter on the cluster', async () => {
      try {
        await this.client.onOne((broker) =>
          alterUserScramCredentialsV0.api.async(broker, [{ name: username, mechanism: MECHANISM }], []),
        );
      } catch (error) {
        if (!brokerSays(error, 'RESOURCE_NOT_FOUND')) throw error;
      }
      await this.client.settled(
        `That account ${username} is deleted`,
        async (broker) => !(await iterationsByUser(broker)).has(username),
      );
    });
  }
}

/** All users: one that is asked for by name and not there would fail the whole answer. */
async function iterationsByUser(broker: Connection): Promise<Map<string, number>> {
  const { results } = await describeUserScramCredentialsV0.api.async(broker, []);
  return new Map(
    results.flatMap(({ user, credentialInfos }) => {
      const own = credentialInfos.find(({ mechanism }) => mechanism === MECHANISM);
      return own ? [[user, own.iterations] as const] : [];
    }),
  );
}

function otherThan(known: number | undefined): number {
  const drawn = randomInt(LEAST_ITERATIONS, MOST_ITERATIONS);
  return drawn === known ? MOST_ITERATIONS : drawn;
}
