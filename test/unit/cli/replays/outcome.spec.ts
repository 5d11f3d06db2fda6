import type { ApiClient } from '../../../../src/cli/api-client';
import { reportOutcome } from '../../../../src/cli/replays/outcome';
import type { ReplayDto } from '../../../../src/messaging/triage';

const api = {
  async *all() {
    yield* await Promise.resolve([]);
  },
} as unknown as ApiClient;

const written: string[] = [];
beforeEach(() => {
  written.length = 0;
  process.exitCode = undefined;
  for (const stream of [process.stdout, process.stderr])
    jest.spyOn(stream, 'write').mockImplementation((text) => written.push(String(text)) > 0);
});
afterEach(() => {
  jest.restoreAllMocks();
  process.exitCode = undefined;
});

const replay = (state: ReplayDto['state'], skipped: number): ReplayDto =>
  ({
    ...{ id: 'r1', state, plan: { skipped: [{ code: 'order-closed', detail: '', count: 2 }] } },
    outcomes: { planned: 0, waiting: 0, processed: 5, failedAgain: 0, skipped },
  }) as unknown as ReplayDto;

describe('what became of a replay', () => {
  it('is all that was agreed to where only those are skipped that the plan names', async () => {
    await reportOutcome(api, replay('done', 2), false);
    expect(process.exitCode).toBeUndefined();
  });

  it('is a part where more were skipped than the plan says, and where to read why is told', async () => {
    await reportOutcome(api, replay('done', 5), false);
    expect(process.exitCode).toBe(3);
    expect(written.join('')).toContain(
      '3 messages of the plan could not be sent. Why: parley replays show r1 --items skipped',
    );
  });

  it('is a part where nobody started the plan in time', async () => {
    await reportOutcome(api, replay('expired', 2), false);
    expect(process.exitCode).toBe(3);
    expect(written.join('')).toContain('not started in time');
  });
});
