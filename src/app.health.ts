import type { HealthReading, HealthSignal } from './health';
import type { ParleyTransport } from './messaging/consumer';
import type { DeadlineWatcher } from './messaging/exchanges';
import type { Relay, WarmUp } from './messaging/outbox';
import type { NotificationFigures, Notifier } from './notifications';
import type { PartitionCheck } from './partners';
import type { Config } from './platform/config';
import type { DatabaseMonitor } from './platform/database';

const reading = (trouble: string | undefined, otherwise: HealthReading['status']): HealthReading =>
  trouble === undefined ? { status: 'up' } : { status: otherwise, message: trouble };

/** A process that only sends notifications asks neither broker nor schema registry anything. */
export const usesBroker = ({ roles }: Pick<Config, 'roles'>): boolean => roles.some((role) => role !== 'notifier');

/**
 * What `/readyz` looks at. The database makes a process unready; Kafka and the schema registry only report, since orders are accepted without them,
 * except that a process that takes no orders is unready until its consumer first joined its group. So does a provider that notifications can't be
 * sent through: another process could not either.
 */
export function healthSignals(
  config: Pick<Config, 'roles'>,
  database: DatabaseMonitor,
  relay: Relay | null,
  transport: ParleyTransport | null,
  ...[partitions, schemas, deadlines, notifier, figures]: [
    PartitionCheck,
    WarmUp,
    DeadlineWatcher | null,
    Notifier | null,
    NotificationFigures | null,
  ]
): readonly HealthSignal[] {
  const signals: HealthSignal[] = [{ name: 'database', read: () => reading(database.trouble, 'down') }];
  if (usesBroker(config))
    signals.push(
      { name: 'topics', read: () => reading(partitions.trouble, 'degraded') },
      { name: 'registry', read: () => reading(schemas.trouble, 'degraded') },
    );
  if (relay) signals.push({ name: 'relay', read: () => relayReading(relay) });
  if (transport)
    signals.push({ name: 'consumer', read: () => consumerReading(transport, config.roles.includes('api')) });
  if (deadlines) signals.push({ name: 'deadlines', read: () => reading(deadlines.trouble, 'degraded') });
  if (notifier)
    signals.push({ name: 'notifier', read: () => reading(notifier.trouble ?? figures?.trouble, 'degraded') });
  return signals;
}

function relayReading(relay: Relay): HealthReading {
  const { role, lastError, failingLanes, parkedLanes } = relay.state;
  if (role === 'stopped' || role === 'connecting')
    return { status: 'degraded', message: lastError ?? `relay is ${role}` };
  const [failing] = failingLanes;
  const [parked] = parkedLanes;
  const troubles = [
    ...(failing ? [`${failingLanes.length} lanes fail: ${failing.error}`] : []),
    ...(parked
      ? [`${parkedLanes.length} lanes are parked, as ${parked.topic}/${parked.partition}: ${parked.reason}`]
      : []),
  ];
  return reading(troubles.join('; ') || lastError, 'degraded');
}

function consumerReading(transport: ParleyTransport, servesOrders: boolean): HealthReading {
  const { everJoined, trouble, waitingFor, state } = transport.health();
  if (!everJoined)
    return { status: servesOrders ? 'degraded' : 'down', message: trouble ?? 'has not joined its consumer group yet' };
  if (waitingFor) return { status: 'degraded', message: `partitions wait for the ${waitingFor}` };
  return reading(trouble ?? (state === 'rebuilding' ? 'the consumer is being rebuilt' : undefined), 'degraded');
}
