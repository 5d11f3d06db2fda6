import { pino } from 'pino';
import { Lifecycle } from '../../../src/platform/lifecycle';

const log = pino({ level: 'silent' });
const PLENTY_MS = 60_000;

describe('the end of a process', () => {
  it('takes no new work first and closes the database last, whatever the order of registration', async () => {
    const lifecycle = new Lifecycle(log, 0, PLENTY_MS);
    const done: string[] = [];
    for (const stage of ['database', 'relay', 'http', 'intake', 'consumer', 'kafka'] as const) {
      lifecycle.onStop(stage, stage, () => Promise.resolve(void done.push(stage)));
    }
    await lifecycle.stop('test');
    expect(done).toEqual(['intake', 'consumer', 'relay', 'http', 'kafka', 'database']);
    expect(lifecycle.phase).toBe('stopped');
  });

  it('serves on, unready, for the drain delay before anything stops', async () => {
    const lifecycle = new Lifecycle(log, 30, PLENTY_MS);
    lifecycle.serving();
    const seen: string[] = [];
    lifecycle.onStop('intake', 'intake', () => Promise.resolve(void seen.push('intake')));
    const stopped = lifecycle.stop('test');
    expect([lifecycle.phase, lifecycle.signal.aborted, seen]).toEqual(['draining', false, []]);
    await stopped;
    expect([lifecycle.signal.aborted, seen]).toEqual([true, ['intake']]);
  });

  it('goes on when a step fails', async () => {
    const lifecycle = new Lifecycle(log, 0, PLENTY_MS);
    const last = jest.fn(() => Promise.resolve());
    lifecycle.onStop('relay', 'relay', () => Promise.reject(new Error('broker gone')));
    lifecycle.onStop('http', 'http', () => {
      throw new Error('at once');
    });
    lifecycle.onStop('database', 'database', last);
    await lifecycle.stop('test');
    expect(last).toHaveBeenCalledTimes(1);
  });

  it('leaves steps behind that never end, in time for all that follow them', async () => {
    const lines: string[] = [];
    const within = 400;
    const lifecycle = new Lifecycle(
      pino({ level: 'error' }, { write: (line: string) => void lines.push(line) }),
      0,
      within,
    );
    const never = () => new Promise<void>(() => undefined);
    const last = jest.fn(() => Promise.resolve());
    lifecycle.onStop('consumer', 'consumer', never);
    lifecycle.onStop('relay', 'relay', never);
    lifecycle.onStop('database', 'database', last);
    const began = performance.now();
    await lifecycle.stop('test');
    expect(performance.now() - began).toBeGreaterThanOrEqual(within / 2);
    expect(last).toHaveBeenCalledTimes(1);
    expect(lines.map((line) => (JSON.parse(line) as { step: string }).step)).toEqual(['consumer', 'relay']);
  });

  it('stops once, however often it is asked', async () => {
    const lifecycle = new Lifecycle(log, 0, PLENTY_MS);
    const step = jest.fn(() => Promise.resolve());
    lifecycle.onStop('intake', 'intake', step);
    await Promise.all([lifecycle.stop('a'), lifecycle.stop('b')]);
    expect(step).toHaveBeenCalledTimes(1);
  });

  it('never becomes ready again', async () => {
    const lifecycle = new Lifecycle(log, 0, PLENTY_MS);
    await lifecycle.stop('test');
    lifecycle.serving();
    expect(lifecycle.phase).toBe('stopped');
  });
});
