import type { Channel } from '../messaging/channels';
import type { Acl, OwnRights } from '../messaging/kafka';
import { topicsOf } from './onboarding/desired';
import { aclsOfParley } from './onboarding/domain/rights';

export interface RightsFound {
  /** In words, a line for each topic or group. */
  missing: string[];
  /** Topics that we may not even see. */
  hidden: ReadonlySet<string>;
}

/** Compares what our account needs for channels, which is what onboarding gives it, with what the broker says that it may. */
export class MissingRights {
  constructor(
    /** For one look, which is closed behind it: looks are rare. */
    private readonly connect: () => OwnRights,
    private readonly account: string,
    private readonly consumerGroup: string,
  ) {}

  async of(channels: readonly Pick<Channel, 'topic' | 'direction'>[]): Promise<RightsFound> {
    if (channels.length === 0) return { missing: [], hidden: new Set() };
    const needed = aclsOfParley(this.account, this.consumerGroup, topicsOf(channels));
    const { topics, group } = await this.ask(namesOf(needed, 'topic'));
    const lacks = ({ resource, name, operation }: Acl) =>
      resource === 'group' ? !group.has(operation) : topics.get(name)?.has(operation) === false;
    const byResource = Map.groupBy(needed.filter(lacks), ({ resource, name }) => `${resource} ${name}`);
    const hidden = [...topics].filter(([, operations]) => operations.size === 0).map(([topic]) => topic);
    return {
      missing: [...byResource].map(
        ([on, acls]) =>
          `${this.account === '' ? 'Parley' : `the account "${this.account}"`} may not ${acls.map(({ operation }) => operation).join(', ')} ${on}: run "parley partner onboard <id> --file <id>.yaml --apply" again, which gives these rights`,
      ),
      hidden: new Set(hidden),
    };
  }

  private async ask(topics: readonly string[]) {
    const own = this.connect();
    try {
      return { topics: await own.onTopics(topics), group: await own.onGroup(this.consumerGroup) };
    } finally {
      await own.close();
    }
  }
}

const namesOf = (acls: readonly Acl[], kind: Acl['resource']): string[] => [
  ...new Set(acls.flatMap(({ resource, name }) => (resource === kind ? [name] : []))),
];
