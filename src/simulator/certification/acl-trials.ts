import { Admin, Consumer } from '@platformatic/kafka';
import { errorReport, orderRequest, orderResponse, topicFor } from '../../contracts';
import { brokerWords, isRefusal } from '../broker-error';
import { type Connection, connectionOf, makeProducer } from '../connection';
import { failed, type Outcome, passed, skipped } from './suite';
import type { Stage } from './stage';

interface Trial {
  what: string;
  /** Rejects where the broker does not let it. */
  attempt: (connection: Connection) => Promise<unknown>;
}

/** What the partner's account may not do, tried with it. Where it may, a record without a document is on the topic, and a topic is made, and deleted again where it may do that, too. */
function trialsOf(partner: string, run: string): Trial[] {
  const stranger = topicFor(orderRequest, `${partner}-${run.toLowerCase()}`);
  return [
    { what: 'write orders to itself', attempt: (connection) => write(connection, topicFor(orderRequest, partner)) },
    { what: 'write its own error reports', attempt: (connection) => write(connection, topicFor(errorReport, partner)) },
    { what: "see another partner's topic", attempt: (connection) => look(connection, stranger) },
    {
      what: 'see its dead letters',
      attempt: (connection) => look(connection, `${topicFor(orderResponse, partner)}-dlt`),
    },
    {
      what: 'make a topic',
      attempt: (connection) => makeTopic(connection, `certification.${partner}.${run.toLowerCase()}`),
    },
    { what: 'use a foreign consumer group', attempt: (connection) => useGroup(connection, `certification.${run}`) },
  ];
}

/** With the partner's account, where it was given. */
export async function tryForbidden({ desk, partnerAccess, run }: Stage): Promise<Outcome> {
  if (!partnerAccess) {
    const next = 'Give it with --partner-username and PARTNER_PASSWORD to have it tried.';
    return skipped("the partner's account was not given", next);
  }
  const connection = connectionOf(partnerAccess, `certification-${desk.party.id}`);
  const seen: string[] = [];
  let [allowed, unknown] = [0, 0];
  for (const { what, attempt } of trialsOf(desk.party.id, run)) {
    try {
      await attempt(connection);
      allowed++;
      seen.push(`it can ${what}`);
    } catch (error) {
      if (!isRefusal(error)) {
        unknown++;
        seen.push(`whether it can ${what} is not known: ${brokerWords(error)}`);
      } else seen.push(`it can't ${what}`);
    }
  }
  if (allowed + unknown === 0) return passed(...seen);
  if (allowed === 0)
    return failed(seen, 'See that the account comes in and that the broker answers, then certify again.');
  return failed(
    seen,
    'Take away what the account may do beyond its own topics and groups: onboard the partner again, and look for other ACLs of its principal.',
  );
}

async function write(connection: Connection, topic: string): Promise<void> {
  const producer = makeProducer(connection);
  try {
    await producer.send({
      acks: -1,
      messages: [{ topic, key: 'certification', value: '{}', headers: { ce_type: 'parley.certification-trial' } }],
    });
  } finally {
    await producer.close().catch(() => undefined);
  }
}

/** A broker tells nobody without a right whether a topic exists, so one that doesn't will do. */
const look = (connection: Connection, topic: string): Promise<unknown> =>
  withAdmin(connection, (admin) => admin.metadata({ topics: [topic], forceUpdate: true }));

const makeTopic = (connection: Connection, topic: string): Promise<unknown> =>
  withAdmin(connection, async (admin) => {
    await admin.createTopics({ topics: [topic], partitions: 1, replicas: 1 });
    // Who may make a topic need not be let to delete it: that is no refusal of the making.
    await admin.deleteTopics({ topics: [topic] }).catch(() => undefined);
  });

async function useGroup(connection: Connection, group: string): Promise<void> {
  const consumer = new Consumer({ ...connection, groupId: group, retries: 0 });
  consumer.on('error', () => undefined);
  try {
    await consumer.findGroupCoordinator();
  } finally {
    await consumer.close().catch(() => undefined);
  }
}

async function withAdmin<T>(connection: Connection, work: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = new Admin({ ...connection, retries: 0 });
  admin.on('error', () => undefined);
  try {
    return await work(admin);
  } finally {
    await admin.close().catch(() => undefined);
  }
}
