import { Command, InvalidArgumentError, Option } from 'commander';
import { FORMATS, type Format } from '../contracts';
import { createKafkaAdmin } from '../messaging/kafka';
import { addPartner, Partners } from '../partners';
import { withDatabase } from './context';
import { hint, print } from './output';
import { examples } from './options';

interface AddOptions {
  name?: string;
  partitions: number;
  format: Format;
  allowMissingId: boolean;
  json: boolean;
}

const partitionCount = (raw: string): number => {
  if (!/^\d{1,4}$/.test(raw) || +raw < 1 || +raw > 1000)
    throw new InvalidArgumentError('a whole number from 1 to 1000');
  return +raw;
};

export function partnerCommand(): Command {
  const partner = examples(
    new Command('partner').description('Who we exchange documents with.'),
    'parley partner add acme --name "Acme Ltd"',
    'parley partner list --json',
  );
  partner
    .command('add <id>')
    .description(
      'Create a partner with its topics and channels. Again it only adds what is missing: after a failure, or for documents that are new since.',
    )
    .option('--name <name>', 'name for people (default: the id)')
    .option('--partitions <n>', "partitions of each topic, fixed for the topic's life", partitionCount, 6)
    .addOption(
      new Option('--format <format>', 'how documents become bytes; all but json need a schema registry')
        .choices(FORMATS)
        .default('avro'),
    )
    .option('--allow-missing-id', 'identify records without ce_id by their place in the topic', false)
    .option('--json', 'machine-readable result', false)
    .action(add);
  partner
    .command('list')
    .description('All partners.')
    .option('--json', 'machine-readable result', false)
    .action(async (options: { json: boolean }) => {
      await withDatabase(async (database) => {
        const partners = await new Partners(database).list();
        print(
          options.json,
          partners,
          partners.map(({ id, name, state }) => `${id}\t${state}\t${name}`),
        );
        if (partners.length === 0 && !options.json) hint('No partners yet: parley partner add acme --name "Acme Ltd"');
      });
    });
  return partner;
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
