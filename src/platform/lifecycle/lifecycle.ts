import type { Logger } from '../telemetry';
import { messageOf } from '../errors';
import { sleep } from '../polling';

export type Phase = 'starting' | 'serving' | 'draining' | 'stopped';

/** The order in which a process stops: no new work first, the database last. */
const STOP_ORDER = ['intake', 'consumer', 'relay', 'http', 'kafka', 'database'] as const;
export type StopStage = (typeof STOP_ORDER)[number];

interface StopStep {
  stage: StopStage;
  name: string;
  run: () => Promise<void>;
}

/** Where the process stands between start and end, and the one place that owns the order of its end. */
export class Lifecycle {
  private readonly steps: StopStep[] = [];
  private readonly aborter = new AbortController();
  private current: Phase = 'starting';
  private stopping: Promise<void> | undefined;

  /** @param withinMs how long the end may take, the drain delay included: a step that waits for a silent server is left behind */
  constructor(
    private readonly log: Logger,
    private readonly drainMs: number,
    private readonly withinMs: number,
  ) {}

  get phase(): Phase {
    return this.current;
  }

  /** Aborts when the end begins: background loops sleep and retry under it. */
  get signal(): AbortSignal {
    return this.aborter.signal;
  }

  serving(): void {
    if (this.current === 'starting') this.current = 'serving';
  }

  /** Registers what is to be done at the end; steps of one stage run in the order of their registration. */
  onStop(stage: StopStage, name: string, run: () => Promise<void>): void {
    this.steps.push({ stage, name, run });
  }

  /** Idempotent. Resolves when every step ran; one that fails, or takes too long, is logged and does not keep the others from running. */
  stop(reason: string): Promise<void> {
    this.stopping ??= this.runStop(reason);
    return this.stopping;
  }

  private async runStop(reason: string): Promise<void> {
    const end = performance.now() + this.withinMs;
    this.current = 'draining';
    this.log.info(
      { reason, drain_ms: this.drainMs },
      'stopping: not ready any more, still serving for the drain delay',
    );
    await sleep(this.drainMs);
    this.aborter.abort(new Error('the process is stopping'));
    for (const stage of STOP_ORDER) {
      for (const step of this.steps.filter((candidate) => candidate.stage === stage)) {
        try {
          // Half of what is left: no step takes the time of all that follow, and the first, which wait for work, get most.
          await inTime(step.run(), (end - performance.now()) / 2);
        } catch (error) {
          this.log.error({ step: step.name, reason: messageOf(error) }, 'a stop step failed');
        }
      }
    }
    this.current = 'stopped';
    this.log.info('stopped');
  }
}

/** Rejects when the work takes longer; it goes on, and nobody waits for it. */
async function inTime(work: Promise<void>, ms: number): Promise<void> {
  const ended = new AbortController();
  const late = sleep(ms, ended.signal).then(() => {
    if (!ended.signal.aborted) throw new Error(`not done within ${Math.round(ms)} ms; the others go on`);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    ended.abort();
  }
}
