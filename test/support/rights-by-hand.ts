import { pbkdf2Sync, randomBytes } from 'node:crypto';
import {
  type Acl,
  AclOperations,
  AclPermissionTypes,
  alterUserScramCredentialsV0,
  ResourcePatternTypes,
  ResourceTypes,
} from '@platformatic/kafka';
import type { Account } from '../../scripts/servers/index.mjs';
import { doorOf, type GuardedKafka } from './guarded-kafka';
import { withAdmin } from './kafka';

type Operation = keyof typeof AclOperations;

const acl = (
  account: string,
  resource: 'TOPIC' | 'GROUP',
  name: string,
  operation: Operation,
  pattern: 'LITERAL' | 'PREFIXED' = 'LITERAL',
): Acl => ({
  resourceType: ResourceTypes[resource],
  resourceName: name,
  resourcePatternType: ResourcePatternTypes[pattern],
  principal: `User:${account}`,
  host: '*',
  operation: AclOperations[operation],
  permissionType: AclPermissionTypes.ALLOW,
});

/** Until onboarding gives them: the rights of Parley's and of a partner's account, and that account. */
export async function giveRights(
  kafka: GuardedKafka,
  partner: string,
  group: string,
  channels: readonly { topic: string; direction: 'in' | 'out' }[],
): Promise<Account> {
  const account = { username: `${partner}.1`, password: randomBytes(24).toString('base64url') };
  const ours = kafka.parley.username;
  const theirs = account.username;
  const creations = channels.flatMap(({ topic, direction }) =>
    direction === 'out'
      ? [
          ...(['DESCRIBE', 'WRITE', 'DESCRIBE_CONFIGS'] as const).map((op) => acl(ours, 'TOPIC', topic, op)),
          ...(['DESCRIBE', 'READ'] as const).map((op) => acl(theirs, 'TOPIC', topic, op)),
        ]
      : [
          ...(['DESCRIBE', 'READ', 'DESCRIBE_CONFIGS'] as const).map((op) => acl(ours, 'TOPIC', topic, op)),
          ...(['DESCRIBE', 'WRITE', 'DESCRIBE_CONFIGS'] as const).map((op) => acl(ours, 'TOPIC', `${topic}-dlt`, op)),
          ...(['DESCRIBE', 'WRITE'] as const).map((op) => acl(theirs, 'TOPIC', topic, op)),
        ],
  );
  creations.push(
    acl(ours, 'GROUP', group, 'READ'),
    acl(ours, 'GROUP', group, 'DESCRIBE'),
    acl(theirs, 'GROUP', `partner.${partner}.`, 'READ', 'PREFIXED'),
  );
  await withAdmin(doorOf(kafka, kafka.admin), async (admin) => {
    const salt = randomBytes(32);
    const saltedPassword = pbkdf2Sync(account.password, salt, 4096, 64, 'sha512');
    const [connection] = (await admin.connectToBrokers()).values();
    if (!connection) throw new Error('no broker');
    await alterUserScramCredentialsV0.api.async(
      connection,
      [],
      [{ name: theirs, mechanism: 2, iterations: 4096, salt, saltedPassword }],
    );
    await admin.createAcls({ creations });
  });
  return account;
}
