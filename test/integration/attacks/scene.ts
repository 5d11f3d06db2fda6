import {
  type Admin,
  ConfigResourceTypes,
  type Connection,
  IncrementalAlterConfigOperationTypes,
} from '@platformatic/kafka';
import type { Onboarded } from './stage';

/** What the attacker has (acme's valid account, any client), and what is there to be attacked. */
export interface Scene {
  admin: Admin;
  connection: Connection;
  acme: Onboarded;
  globex: Onboarded;
  /** Parley's consumer group, in which it is while it is attacked, and its member there. */
  group: string;
  memberId: string;
  /** Ids of topics are no secret, and no right. */
  topicIds: ReadonlyMap<string, string>;
}

export type Attack = (scene: Scene) => Promise<unknown>;

/** What it does, the broker's answer to it, and how. */
export type Attacks = readonly (readonly [what: string, answer: string, attack: Attack])[];

export const topicNamed = (name: string) => ({ resourceType: ConfigResourceTypes.TOPIC, resourceName: name });
export const setTo = (name: string, value: string) => ({
  ...{ name, value, configOperation: IncrementalAlterConfigOperationTypes.SET },
});
