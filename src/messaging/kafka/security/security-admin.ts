import type { KafkaSettings } from '../client-settings';
import type { SecurityAdmin } from '../security-types';
import { Acls } from './acls';
import { membersOf } from './group-members';
import { Quotas } from './quotas';
import { ScramUsers } from './scram-users';
import { SecurityClient } from './security-client';
import { Topics } from './topics';

/** Accounts, rights, limits and options over a client of its own, connected at the first call. See {@link SecurityAdmin}. */
export function createSecurityAdmin(settings: KafkaSettings): SecurityAdmin {
  const client = new SecurityClient(settings);
  const [users, acls, quotas, topics] = [
    new ScramUsers(client),
    new Acls(client),
    new Quotas(client),
    new Topics(client),
  ];
  return {
    users: (names) => users.list(names),
    putUser: (user) => users.put(user),
    deleteUser: (username) => users.delete(username),
    acls: (filter) => acls.list(filter),
    addAcls: (list) => acls.add(list),
    deleteAcls: (list) => acls.delete(list),
    quota: (username) => quotas.of(username),
    putQuota: (username, quota) => quotas.put(username, quota),
    topicOptions: (names, options) => topics.options(names, options),
    putTopicOptions: (topic, options) => topics.putOptions(topic, options),
    deleteTopics: (names) => topics.delete(names),
    membersOf: (prefix) => membersOf(client, prefix),
    close: () => client.close(),
  };
}
