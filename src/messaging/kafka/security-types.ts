/** What an account may do with a resource. `Describe` comes with `Read` and `Write`, and is stated all the same: people read these lists. */
export type AclOperation =
  | 'Read'
  | 'Write'
  | 'Create'
  | 'Delete'
  | 'Alter'
  | 'Describe'
  | 'DescribeConfigs'
  | 'AlterConfigs'
  | 'ClusterAction'
  | 'IdempotentWrite'
  | 'CreateTokens'
  | 'DescribeTokens'
  | 'TwoPhaseCommit'
  | 'All';

/** One rule of the broker's authorizer. Compared field by field: an ACL that differs in any is another. */
export interface Acl {
  /** `User:acme.1`. */
  principal: string;
  resource: 'topic' | 'group' | 'cluster' | 'transactional-id' | 'delegation-token' | 'user';
  /** Of the cluster: `kafka-cluster`. */
  name: string;
  pattern: 'literal' | 'prefixed';
  operation: AclOperation;
  permission: 'allow' | 'deny';
  /** `*`: from anywhere. */
  host: string;
}

/** Of one user at each broker; undefined: no limit. */
export interface Quota {
  /** Bytes per second that it may write. */
  producerByteRate?: number;
  /** Bytes per second that it may read. */
  consumerByteRate?: number;
  /** Percentage of one request thread's time. */
  requestPercentage?: number;
}

/** One option of a topic, and whether the topic itself says so. */
export interface TopicOption {
  value: string;
  /** false: the broker's default. */
  isOwn: boolean;
}

/** A client that is connected and in a consumer group. */
export interface GroupMember {
  group: string;
  clientId: string;
  /** Network address as the broker sees it. */
  host: string;
}

/**
 * Accounts, rights and limits at the broker, under an administrator's account. Every method rejects with an AppError as those of
 * KafkaAdmin do: `not-authorized` with the missing right as hint; `security-disabled` for ACLs where the broker has no
 * authorizer; `broker-behind` when a change was taken, but a broker did not hear of it in time. What changes something resolves
 * when each broker that lives knows of it, and may be called again.
 */
export interface SecurityAdmin {
  /** The names of SCRAM users, of these or of all, by whichever mechanism they sign in. */
  users(names?: readonly string[]): Promise<ReadonlySet<string>>;
  /** Makes the user or replaces its password. Connections that are open stay so until they authenticate again. */
  putUser(user: { username: string; password: string }): Promise<void>;
  /** By every mechanism. One that is not there is no error. */
  deleteUser(username: string): Promise<void>;
  /** Of one principal, or all. */
  acls(filter?: { principal?: string }): Promise<Acl[]>;
  addAcls(acls: readonly Acl[]): Promise<void>;
  /** Exactly these. One that is not there is no error. */
  deleteAcls(acls: readonly Acl[]): Promise<void>;
  /** Of one user; empty: no limit of its own. */
  quota(username: string): Promise<Quota>;
  /** What is not named is taken away. */
  putQuota(username: string, quota: Quota): Promise<void>;
  /** Of the topics that exist: options that were asked for, by topic. */
  topicOptions(
    topics: readonly string[],
    names: readonly string[],
  ): Promise<ReadonlyMap<string, Readonly<Record<string, TopicOption>>>>;
  /** Changes these options and no others. */
  putTopicOptions(topic: string, options: Readonly<Record<string, string>>): Promise<void>;
  /** With all that is in them. One that is not there is no error. */
  deleteTopics(topics: readonly string[]): Promise<void>;
  /** Who is in the consumer groups whose name begins so, as far as we may see them. */
  membersOf(groupPrefix: string): Promise<GroupMember[]>;
  close(): Promise<void>;
}
