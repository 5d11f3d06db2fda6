import 'reflect-metadata';
import { DataSource } from 'typeorm';
import { DatabaseMonitor, dataSourceOptions } from '../../../src/platform/database';
import { createLogger } from '../../../src/platform/telemetry';
import { testConfig } from '../../support/config';
import { freshDatabase } from '../../support/database';
import { eventually } from '../../support/eventually';
import { ownWire, silence } from '../../support/faults';

describe('what readiness knows of the database', () => {
  it('is that it does not answer, also when the network falls silent without closing anything', async () => {
    const url = new URL(await freshDatabase());
    const wire = await ownWire({ port: Number(url.port) });
    url.port = String(wire.port);
    const options = dataSourceOptions(testConfig(url.href), { entities: [], migrations: [] });
    const dataSource = new DataSource(options);
    const monitor = new DatabaseMonitor(dataSource, createLogger('silent', 'test'));
    const end = new AbortController();
    try {
      expect(monitor.trouble).toBe('not connected yet');
      await monitor.ready(end.signal);
      expect(monitor.trouble).toBeUndefined();
      const speak = silence(wire);
      await eventually(() => monitor.trouble === 'the database cannot be reached', {
        what: 'the trouble',
      });
      await speak();
      await eventually(() => monitor.trouble === undefined, { what: 'its end' });
    } finally {
      end.abort();
      await dataSource.destroy();
    }
  });
});
