import { freshDatabase } from '../support/database';
import { eventually } from '../support/eventually';
import { joinWithForeignProtocol } from '../support/foreign-member';
import { uniqueName } from '../support/kafka';
import { ParleyProcess } from '../support/parley-process';

describe('a process whose consumer can not be kept alive', () => {
  it('is never ready, and ends with 1 and the reason, so that another takes its place', async () => {
    const [partner, group] = [uniqueName('acme'), uniqueName('refused')];
    const parley = await ParleyProcess.prepare(await freshDatabase(), {
      KAFKA_CONSUMER_GROUP: group,
      ROLES: 'consumer',
    });
    await parley.addPartner(partner, '--format', 'json');
    const stranger = await joinWithForeignProtocol(group, `orders.${partner}.response.v1`);
    try {
      parley.launch();
      const probes = new Set<number>();
      await eventually(
        async () => {
          probes.add(await parley.probe('readyz'));
          return !parley.alive;
        },
        { timeout: 90_000, interval: 50, what: 'it ends' },
      );
      expect(probes).not.toContain(200);
      expect(probes).toContain(503);
      expect(await parley.end()).toBe(1);
      expect(parley.output).toMatch(/"level":"fatal".*"reason":"[^"]+.*the consumer cannot be kept alive/);
    } finally {
      await parley.end('SIGKILL');
      await stranger.close();
    }
  }, 150_000);
});
