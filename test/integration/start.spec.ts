import 'reflect-metadata';
import { Client } from 'pg';
import { createLogger } from '../../src/platform/telemetry';
import { start } from '../../src/start';
import { testConfig } from '../support/config';
import { freshDatabase } from '../support/database';
import { eventually } from '../support/eventually';

describe('a process that is stopped while it starts', () => {
  it('begins nothing more and ends', async () => {
    const url = await freshDatabase();
    const other = new Client({ connectionString: url });
    await other.connect();
    // The start waits for the partitions of the outbox, which another process holds.
    await other.query('SELECT pg_advisory_lock(7275392)');
    const running = await start(testConfig(url, { ROLES: 'api' }), createLogger('silent', 'test'));
    const started = running.started.catch((error: unknown) => String(error));
    await eventually(
      async () => {
        const { rows } = await other.query(
          `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'`,
        );
        return rows.length > 0;
      },
      { what: 'it waits' },
    );
    // It goes on when intake has been ended and the rest has not.
    running.lifecycle.onStop('consumer', 'the other process', async () => {
      await other.end();
      await started;
    });
    void running.lifecycle.stop('test');
    try {
      await eventually(() => running.lifecycle.phase === 'stopped', { what: 'the end' });
      expect(await started).toMatch(/stopping/);
      expect(running.apiUrl).toBeUndefined();
    } finally {
      await running.app.close();
    }
  });
});
