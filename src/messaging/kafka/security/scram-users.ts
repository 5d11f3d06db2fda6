import { pbkdf2, randomBytes, randomInt } from 'node:crypto';
import { promisify } from 'node:util';
import {
  alterUserScramCredentialsV0,
  type Connection,
  describeUserScramCredentialsV0,
  type ScramMechanismValue,
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

interface Credential {
  mechanism: ScramMechanismValue;
  iterations: number;
}

const derive = promisify(pbkdf2);

/**
 * Users of SCRAM at the broker. It is told the salted password only, and tells nothing but its iterations. Passwords are made for
 * SCRAM-SHA-512; one that an administrator gave for SCRAM-SHA-256 opens the broker under the same name and the same rights, so it
 * makes a user, too, and goes with it.
 */
export class ScramUsers {
  constructor(private readonly client: SecurityClient) {}

  list(names?: readonly string[]): Promise<ReadonlySet<string>> {
    return this.client.asked('list accounts', 'Describe on the cluster', async () => {
      const all = await this.client.onOne(credentialsByUser);
      return new Set(names?.filter((name) => all.has(name)) ?? all.keys());
    });
  }

  put({ username, password }: { username: string; password: string }): Promise<void> {
    return this.client.asked(`set the password of account ${username}`, 'Alter on the cluster', async () => {
      const known = iterationsOf((await this.client.onOne(credentialsByUser)).get(username));
      // Not the number of the password before: by it a broker shows which of the two it knows.
      const iterations = otherThan(known);
      const salt = randomBytes(SALT_BYTES);
      const saltedPassword = await derive(password, salt, iterations, KEY_BYTES, 'sha512');
      const user = { name: username, mechanism: MECHANISM, iterations, salt, saltedPassword };
      await this.client.onOne((broker) => alterUserScramCredentialsV0.api.async(broker, [], [user]));
      await this.client.settled(
        `The password of account ${username}`,
        async (broker) => iterationsOf((await credentialsByUser(broker)).get(username)) === iterations,
      );
    });
  }

  delete(username: string): Promise<void> {
    return this.client.asked(`delete account ${username}`, 'Alter on the cluster', async () => {
      const known = (await this.client.onOne(credentialsByUser)).get(username) ?? [];
      // A broker that does not know of the user yet names none: ours is deleted whatever it says.
      const mechanisms = new Set<ScramMechanismValue>([MECHANISM, ...known.map(({ mechanism }) => mechanism)]);
      for (const mechanism of mechanisms) await this.forget({ name: username, mechanism });
      await this.client.settled(
        `That account ${username} is deleted`,
        async (broker) => !(await credentialsByUser(broker)).has(username),
      );
    });
  }

  private async forget(credential: { name: string; mechanism: ScramMechanismValue }): Promise<void> {
    try {
      await this.client.onOne((broker) => alterUserScramCredentialsV0.api.async(broker, [credential], []));
    } catch (error) {
      if (!brokerSays(error, 'RESOURCE_NOT_FOUND')) throw error;
    }
  }
}

/** All users: one that is asked for by name and not there would fail the whole answer. */
async function credentialsByUser(broker: Connection): Promise<Map<string, readonly Credential[]>> {
  const { results } = await describeUserScramCredentialsV0.api.async(broker, []);
  return new Map(results.map(({ user, credentialInfos }) => [user, credentialInfos]));
}

const iterationsOf = (known: readonly Credential[] = []): number | undefined =>
  known.find(({ mechanism }) => mechanism === MECHANISM)?.iterations;

function otherThan(known: number | undefined): number {
  const drawn = randomInt(LEAST_ITERATIONS, MOST_ITERATIONS);
  return drawn === known ? MOST_ITERATIONS : drawn;
}
