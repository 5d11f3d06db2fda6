import { orderRequest, topicFor } from '../../contracts';
import { planOf, publish, type Subject, survey } from '../../messaging/evolution';
import { createSchemaRegistry } from '../../messaging/registry';
import { AppError } from '../../platform/errors';
import { type Access, laterOrderSchema } from '../../simulator';
import { hint } from '../output';

/**
 * Publishes the later version of the order's Avro schema that the certification writes with: judged against every version that is
 * there, as every version is, and the same each time, so that one is added to a topic and no more.
 */
export async function publishLater({ registry: settings }: Access, partner: string): Promise<void> {
  if (!settings) return;
  const topic = topicFor(orderRequest, partner);
  const { subject: name, schema } = laterOrderSchema(topic);
  const subject: Subject = { partner, topic, contract: orderRequest, direction: orderRequest.direction, name, schema };
  const registry = createSchemaRegistry(settings);
  try {
    const [outcome] = await publish(registry, planOf(await survey(registry, [subject], [])));
    if (outcome?.result === 'registered')
      hint(`registered version ${outcome.version} of ${name}, with one optional field more`);
    if (outcome?.result === 'failed' || outcome?.result === 'plan-changed') {
      throw new AppError('registry-refused', `The later version of ${name} is not registered: ${outcome.reason}`);
    }
  } finally {
    await registry.close();
  }
}
