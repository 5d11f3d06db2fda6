import { Command, Option } from 'commander';
import { FORMATS, type Format } from '../../contracts';
import { createKafkaAdmin } from '../../messaging/kafka';
import { addPartner, Partners } from '../../partners';
import { withDatabase } from '../context';
import { withJson, wholeUpTo } from '../options';
import { hint, print } from '../output';

interface AddOptions {
  name?: string;
  partitions: number;
  format: Format;
  allowMissingId: boolean;
  json: boolean;
}

export function addCommand(): Command {
  const command = new Command('add')
    .argument('<id>')
    .description(
      'Create a partner with its topics and channels. Again it only adds what is missing: after a failure, or for documents that are new since.',
    )
    .option('--name <name>', 'name for people (default: the id)')
    .option('--partitions <n>', "partitions of each topic, fixed for the topic's life", wholeUpTo(1000), 6)
    .addOption(
      new Option('--format <format>', 'how documents become bytes; all but json need a schema registry')
        .choices(FORMATS)
        .default('avro'),
    )
    .option('--allow-missing-id', 'identify records without ce_id by their place in the topic', false);
  return withJson(command).action(add);
}

async function add(id: string, options: AddOptions): Promise<void> {
  await withDatabase(async (database, config) => {
    const admin = createKafkaAdmin(config);
    try {
      const channels = await addPartner(
        {
          id,
          name: options.name ?? id,
          partitions: options.partitions,
          replicationFactor: config.kafkaReplicationFactor,
          topicRetentionHours: config.kafkaTopicRetentionHours,
          format: options.format,
          allowMissingId: options.allowMissingId,
        },
        { database, partners: new Partners(database), admin, now: new Date() },
      );
      print(options.json, { partner: id, channels }, [
        `partner ${id}`,
        ...channels.map(
          (channel) =>
            `  ${channel.direction === 'out' ? 'we write  ' : 'they write'} ${channel.topic} (${channel.partitions} partitions, ${channel.format})`,
        ),
      ]);
      if (options.format !== 'json' && !options.json) {
        if (config.schemaRegistryUrls.length === 0) {
          hint(`No schema registry is configured, and ${options.format} needs one: set SCHEMA_REGISTRY_URLS.`);
        }
        hint(`Next: parley contracts publish, which registers the ${options.format} schemas of these topics.`);
      }
    } finally {
      await admin.close();
    }
  });
}
