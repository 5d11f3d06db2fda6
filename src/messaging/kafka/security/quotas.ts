import {
  ClientQuotaEntityTypes,
  ClientQuotaKeys,
  ClientQuotaMatchTypes,
  describeClientQuotasV1,
} from '@platformatic/kafka';
import type { Connection } from '@platformatic/kafka';
import type { Quota } from '../security-types';
import type { SecurityClient } from './security-client';

const KEYS = {
  producerByteRate: ClientQuotaKeys.PRODUCER_BYTE_RATE,
  consumerByteRate: ClientQuotaKeys.CONSUMER_BYTE_RATE,
  requestPercentage: ClientQuotaKeys.REQUEST_PERCENTAGE,
} as const;

const NAMES = Object.keys(KEYS) as (keyof Quota)[];

/** Limits of one user (of all its client ids together) at each broker. */
export class Quotas {
  constructor(private readonly client: SecurityClient) {}

  of(username: string): Promise<Quota> {
    return this.client.asked(`read the quota of ${username}`, 'DescribeConfigs on the cluster', () =>
      this.client.onOne((broker) => quotaAt(broker, username)),
    );
  }

  put(username: string, quota: Quota): Promise<void> {
    return this.client.asked(`set the quota of ${username}`, 'AlterConfigs on the cluster', async () => {
      const ops = NAMES.map((name) => {
        const value = quota[name];
        return value === undefined
          ? ({ key: KEYS[name], remove: true } as const)
          : ({ key: KEYS[name], value, remove: false } as const);
      });
      const entities = [{ entityType: ClientQuotaEntityTypes.USER, entityName: username }];
      await this.client.admin.alterClientQuotas({ entries: [{ entities, ops }] });
      await this.client.settled(`The quota of ${username}`, async (broker) => {
        const known = await quotaAt(broker, username);
        return NAMES.every((name) => known[name] === quota[name]);
      });
    });
  }
}

async function quotaAt(broker: Connection, username: string): Promise<Quota> {
  const user = { entityType: ClientQuotaEntityTypes.USER, matchType: ClientQuotaMatchTypes.EXACT, match: username };
  // Strict: not those of the user under one client id.
  const { entries } = await describeClientQuotasV1.api.async(broker, [user], true);
  const values = entries?.flatMap((entry) => entry.values) ?? [];
  const quota: Quota = {};
  for (const name of NAMES) {
    const value = values.find(({ key }) => key === KEYS[name])?.value;
    if (value !== undefined) quota[name] = value;
  }
  return quota;
}
