import type { Clock } from '../../platform/clock';
import { type Database, ifFree } from '../../platform/database';
import { messageOf } from '../../platform/errors';
import { nowAndThen } from '../../platform/polling';
import type { Logger } from '../../platform/telemetry';

const EVERY_MS = 60_000;

interface Watcher {
  look(now: Date): Promise<void>;
}

/** Looks now and then for what nobody reports: what did not happen, and what nobody has dealt with. In one process of the installation at a time. */
export class Watchers {
  private readonly failing = new Set<string>();

  constructor(
    private readonly database: Database,
    /** By what each looks for. */
    private readonly watchers: Readonly<Record<string, Watcher>>,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  run(signal: AbortSignal): Promise<void> {
    return nowAndThen(() => this.look(signal), { everyMs: EVERY_MS, signal });
  }

  /** Looks once, unless another process does; one that fails keeps no other from looking. */
  async look(signal?: AbortSignal): Promise<void> {
    for (const [name, watcher] of Object.entries(this.watchers)) {
      try {
        await ifFree(this.database, `watch/${name}`, () => watcher.look(this.clock.now()));
        this.failing.delete(name);
      } catch (error) {
        // One line when it begins: an outage of the database is told by others, too.
        if (!this.failing.has(name) && !signal?.aborted)
          this.logger.warn({ watch: name, reason: messageOf(error) }, 'a watcher could not look; it tries again');
        this.failing.add(name);
      }
    }
  }
}
