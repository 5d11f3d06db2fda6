import { dump } from 'js-yaml';
import { type PartnerSpec, strimziFor } from '../../partners';
import type { Config } from '../../platform/config';
import type { Database } from '../../platform/database';
import { hint } from '../output';

/** Prints the resources, as YAML documents or as one JSON list. Asks the database, and no broker. */
export async function emitStrimzi(
  database: Database,
  config: Config,
  spec: PartnerSpec,
  { cluster, json }: { cluster: string; json: boolean },
): Promise<void> {
  const resources = await strimziFor(database, config, spec, cluster);
  const yaml = resources.map((resource) => `---\n${dump(resource, { lineWidth: 120, noRefs: true })}`).join('');
  process.stdout.write(json ? `${JSON.stringify(resources)}\n` : yaml);
  if (json) return;
  hint('The KafkaUser of Parley has its rights for all partners: an account has one list of them.');
  hint(`Next, once they are applied: parley partner onboard ${spec.partner} --file … --emit strimzi --apply`);
}
