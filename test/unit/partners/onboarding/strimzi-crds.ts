/** What the operator's resource definitions (v1) demand of what we write, in words of our own: types, names and values that it knows. */
const closed = (properties: Record<string, object>, required: readonly string[]) => ({
  ...{ type: 'object', additionalProperties: false, properties, required },
});
const text = { type: 'string' };
const oneOf = (...values: string[]) => ({ type: 'string', enum: values });
const count = (minimum: number, maximum = Number.MAX_SAFE_INTEGER) => ({ type: 'integer', minimum, maximum });
/** A DNS subdomain (RFC 1123). */
const name = {
  type: 'string',
  maxLength: 253,
  pattern: '^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$',
};

const resource = (kind: string, spec: object) =>
  closed(
    {
      apiVersion: oneOf('kafka.strimzi.io/v1'),
      kind: oneOf(kind),
      metadata: closed({ name, labels: closed({ 'strimzi.io/cluster': name }, ['strimzi.io/cluster']) }, [
        'name',
        'labels',
      ]),
      spec,
    },
    ['apiVersion', 'kind', 'metadata', 'spec'],
  );

const acl = closed(
  {
    type: oneOf('allow', 'deny'),
    resource: closed(
      {
        type: oneOf('topic', 'group', 'cluster', 'transactionalId'),
        name: text,
        patternType: oneOf('literal', 'prefix'),
      },
      ['type'],
    ),
    operations: {
      type: 'array',
      items: oneOf(
        ...['Read', 'Write', 'Create', 'Delete', 'Alter', 'Describe', 'ClusterAction'],
        ...['AlterConfigs', 'DescribeConfigs', 'IdempotentWrite', 'All'],
      ),
    },
    host: text,
  },
  ['resource', 'operations'],
);

export const CRDS: Readonly<Record<'KafkaTopic' | 'KafkaUser', object>> = {
  KafkaTopic: resource(
    'KafkaTopic',
    closed(
      {
        topicName: text,
        partitions: count(1),
        replicas: count(1, 32_767),
        config: { type: 'object', additionalProperties: text },
      },
      [],
    ),
  ),
  KafkaUser: resource(
    'KafkaUser',
    closed(
      {
        userName: text,
        authentication: closed({ type: oneOf('tls', 'tls-external', 'scram-sha-512') }, ['type']),
        authorization: closed({ type: oneOf('simple'), acls: { type: 'array', items: acl } }, ['type', 'acls']),
        quotas: closed({ producerByteRate: count(0), consumerByteRate: count(0), requestPercentage: count(0) }, []),
      },
      [],
    ),
  ),
};
