import {
  AclOperations,
  AclPermissionTypes,
  type Connection,
  describeAclsV3,
  ResourcePatternTypes,
  ResourceTypes,
} from '@platformatic/kafka';
import type { Acl, AclOperation } from '../security-types';
import type { SecurityClient } from './security-client';

const RESOURCES = {
  topic: ResourceTypes.TOPIC,
  group: ResourceTypes.GROUP,
  cluster: ResourceTypes.CLUSTER,
  'transactional-id': ResourceTypes.TRANSACTIONAL_ID,
  'delegation-token': ResourceTypes.DELEGATION_TOKEN,
  user: ResourceTypes.USER,
} satisfies Record<Acl['resource'], number>;

const PATTERNS = {
  literal: ResourcePatternTypes.LITERAL,
  prefixed: ResourcePatternTypes.PREFIXED,
} satisfies Record<Acl['pattern'], number>;

const PERMISSIONS = {
  allow: AclPermissionTypes.ALLOW,
  deny: AclPermissionTypes.DENY,
} satisfies Record<Acl['permission'], number>;

export const OPERATIONS = {
  All: AclOperations.ALL,
  Read: AclOperations.READ,
  Write: AclOperations.WRITE,
  Create: AclOperations.CREATE,
  Delete: AclOperations.DELETE,
  Alter: AclOperations.ALTER,
  Describe: AclOperations.DESCRIBE,
  ClusterAction: AclOperations.CLUSTER_ACTION,
  DescribeConfigs: AclOperations.DESCRIBE_CONFIGS,
  AlterConfigs: AclOperations.ALTER_CONFIGS,
  IdempotentWrite: AclOperations.IDEMPOTENT_WRITE,
  CreateTokens: AclOperations.CREATE_TOKENS,
  DescribeTokens: AclOperations.DESCRIBE_TOKENS,
  TwoPhaseCommit: AclOperations.TWO_PHASE_COMMIT,
} satisfies Record<AclOperation, number>;

const ANYTHING = {
  resourceType: ResourceTypes.ANY,
  resourceName: null,
  resourcePatternType: ResourcePatternTypes.ANY,
  host: null,
  operation: AclOperations.ANY,
  permissionType: AclPermissionTypes.ANY,
} as const;

/** Rules of the broker's authorizer. */
export class Acls {
  constructor(private readonly client: SecurityClient) {}

  list({ principal }: { principal?: string } = {}): Promise<Acl[]> {
    return this.client.asked(
      principal === undefined ? 'list ACLs' : `list the ACLs of ${principal}`,
      'Describe on the cluster',
      () => this.client.onOne((broker) => aclsAt(broker, principal)),
    );
  }

  add(acls: readonly Acl[]): Promise<void> {
    return this.client.asked(`add ${named(acls)}`, 'Alter on the cluster', async () => {
      if (acls.length === 0) return;
      await this.client.admin.createAcls({ creations: acls.map(onWire) });
      await this.settled(acls, true);
    });
  }

  delete(acls: readonly Acl[]): Promise<void> {
    return this.client.asked(`delete ${named(acls)}`, 'Alter on the cluster', async () => {
      if (acls.length === 0) return;
      await this.client.admin.deleteAcls({ filters: acls.map(onWire) });
      await this.settled(acls, false);
    });
  }

  private async settled(acls: readonly Acl[], present: boolean): Promise<void> {
    const wanted = acls.map(keyOf);
    const [first] = acls;
    const principal = acls.every((acl) => acl.principal === first?.principal) ? first?.principal : undefined;
    await this.client.settled('The change of ACLs', async (broker) => {
      const there = new Set((await aclsAt(broker, principal)).map(keyOf));
      return wanted.every((key) => there.has(key) === present);
    });
  }
}

const keyOf = (acl: Acl): string =>
  JSON.stringify([acl.principal, acl.resource, acl.name, acl.pattern, acl.operation, acl.permission, acl.host]);

const named = (acls: readonly Acl[]): string => {
  const principals = [...new Set(acls.map(({ principal }) => principal))];
  return `${acls.length} ACLs of ${principals.join(', ') || 'nobody'}`;
};

const onWire = (acl: Acl) => ({
  resourceType: RESOURCES[acl.resource],
  resourceName: acl.name,
  resourcePatternType: PATTERNS[acl.pattern],
  principal: acl.principal,
  host: acl.host,
  operation: OPERATIONS[acl.operation],
  permissionType: PERMISSIONS[acl.permission],
});

async function aclsAt(broker: Connection, principal: string | undefined): Promise<Acl[]> {
  const filter = { ...ANYTHING, principal: principal ?? null };
  const { resources } = await describeAclsV3.api.async(broker, filter);
  return resources.flatMap(({ resourceType, resourceName, resourcePatternType, acls }) =>
    acls.map((acl) => ({
      principal: acl.principal,
      resource: word(RESOURCES, resourceType),
      name: resourceName,
      pattern: word(PATTERNS, resourcePatternType),
      operation: word(OPERATIONS, acl.operation),
      permission: word(PERMISSIONS, acl.permissionType),
      host: acl.host,
    })),
  );
}

/** The word for a number of the protocol. A newer broker may know more; to leave such a rule out would hide a right. */
function word<K extends string>(words: Readonly<Record<K, number>>, number: number): K {
  const found = (Object.keys(words) as K[]).find((key) => words[key] === number);
  if (found === undefined) throw new Error(`The broker has an ACL with number ${number}, which has no name here.`);
  return found;
}
