import { eventually } from '../support/eventually';
import { atEnd, ownPostgres, pause } from '../support/faults';
import { startGuardedKafka } from '../support/guarded-kafka';
import { uniqueName } from '../support/kafka';
import { ParleyProcess } from '../support/parley-process';

jest.setTimeout(240_000);

describe('a process of all roles that is told to end while a server says nothing', () => {
  const prepare = async () => {
    const [postgres, kafka] = await Promise.all([ownPostgres(), startGuardedKafka()]);
    atEnd(() => kafka.stop());
    await postgres.createDatabase('parley');
    const parley = await ParleyProcess.prepare(postgres.url('parley'), { SHUTDOWN_TIMEOUT_MS: '20000' }, kafka);
    await parley.cli('migrate');
    await parley.addPartner(uniqueName('acme'), '--format', 'json');
    return { postgres, kafka, parley };
  };
  const says = (parley: ParleyProcess, words: string) =>
    eventually(() => parley.output.includes(words), { timeout: 90_000, what: `it says: ${words}` });

  it('ends with 0 in time, and says what it left behind, where that is the database', async () => {
    const { parley, postgres } = await prepare();
    try {
      await parley.start();
      await pause(postgres);
      await says(parley, 'the database does not answer');
      expect(await parley.end('SIGTERM')).toBe(0);
      expect(parley.output).toMatch(/"step":"[^"]+","reason":"not done within/);
    } finally {
      await parley.end('SIGKILL');
    }
  });

  it('ends with 0 in time where that is the broker, and waits for no question about deadlines', async () => {
    const { parley, kafka } = await prepare();
    try {
      await pause(kafka);
      parley.launch();
      await says(parley, '"msg":"started"');
      expect(await parley.end('SIGTERM')).toBe(0);
      // What it asks the broker ends with the client.
      expect(parley.output).not.toContain('"step":"deadlines"');
    } finally {
      await parley.end('SIGKILL');
    }
  });
});
