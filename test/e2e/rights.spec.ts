import type { Acl } from '@platformatic/kafka';
import { freshDatabase } from '../support/database';
import { eventually } from '../support/eventually';
import { healing } from '../support/faults';
import { doorOf, guardedKafka } from '../support/guarded-kafka';
import { type KafkaDoor, uniqueName, withAdmin } from '../support/kafka';
import { ParleyProcess } from '../support/parley-process';
import { right } from '../support/topic-faults';

const kafka = guardedKafka();
const administrator = doorOf(kafka, kafka.admin);

/** Taken from Parley's account; given back at the end of the test. */
async function take(...rights: Acl[]): Promise<void> {
  healing(() => withAdmin(administrator, (admin) => admin.createAcls({ creations: rights })));
  await withAdmin(administrator, (admin) => admin.deleteAcls({ filters: rights }));
}

const refusal = (door: KafkaDoor, topic: string): Promise<unknown> =>
  withAdmin(door, (admin) => admin.metadata({ topics: [topic] })).then(
    () => undefined,
    (error: unknown) => error,
  );

describe('a process whose account lacks rights at the broker', () => {
  it('says at its start which, and on what, and lives on', async () => {
    const [partner, group] = [uniqueName('acme'), uniqueName('parley')];
    const parley = await ParleyProcess.prepare(await freshDatabase(), { KAFKA_CONSUMER_GROUP: group });
    await parley.addPartner(partner, '--format', 'json', '--partitions', '1');
    const [out, inbound] = [`orders.${partner}.request.v1`, `orders.${partner}.response.v1`];
    const on = (topic: string, operation: 'READ' | 'WRITE' | 'DESCRIBE' | 'DESCRIBE_CONFIGS') =>
      right(kafka.parley.username, 'TOPIC', topic, operation);
    const lost = [
      ...[on(out, 'WRITE'), on(out, 'DESCRIBE'), on(out, 'DESCRIBE_CONFIGS')],
      ...[on(inbound, 'READ'), on(`${inbound}-dlt`, 'WRITE')],
      ...(['READ', 'DESCRIBE'] as const).map((operation) => right(kafka.parley.username, 'GROUP', group, operation)),
    ];
    await take(...lost);
    try {
      parley.launch();
      const told = [
        `may not Describe, DescribeConfigs, Write topic ${out}: run`,
        `may not Read topic ${inbound}: run`,
        `may not Write topic ${inbound}-dlt: run`,
        `may not Describe, Read group ${group}: run`,
      ];
      for (const words of told)
        await eventually(() => parley.output.includes(words), { timeout: 180_000, what: words });
      // What it may not see is not said to be missing.
      expect(parley.output).not.toContain('run \\"parley partner add\\" again');
      await eventually(async () => {
        const health = await fetch(`${parley.managementUrl}/readyz?verbose`);
        expect(await health.json()).toMatchObject({
          checks: { topics: { status: 'degraded', message: expect.stringContaining(told[0] ?? '') as string } },
        });
        return true;
      });
      expect(parley.alive).toBe(true);
    } finally {
      await parley.end('SIGKILL');
    }
    // To load the program alone takes a busy machine a minute.
  }, 240_000);

  it('has none but those that onboarding gives: no other topic, none to make, none of dead letters to read', async () => {
    const partner = uniqueName('acme');
    const parley = await ParleyProcess.prepare(await freshDatabase());
    const door = await parley.addPartner(partner, '--format', 'json', '--partitions', '1');
    const ours = doorOf(kafka, kafka.parley);
    const stranger = uniqueName('strange');
    await withAdmin(administrator, (admin) => admin.createTopics({ topics: [stranger], partitions: 1, replicas: 1 }));
    expect(await refusal(ours, stranger)).toBeInstanceOf(Error);
    expect(await refusal(door, stranger)).toBeInstanceOf(Error);
    expect(await refusal(door, `orders.${partner}.response.v1-dlt`)).toBeInstanceOf(Error);
    expect(await refusal(ours, `orders.${partner}.request.v1`)).toBeUndefined();
    const make = { topics: [uniqueName('made')], partitions: 1, replicas: 1 };
    await expect(withAdmin(ours, (admin) => admin.createTopics(make))).rejects.toThrow();
  });
});
