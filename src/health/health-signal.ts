/** What one part of the process says about itself, from its own memory: no I/O, no secret, no host name. */
export interface HealthReading {
  /** `down` makes the process unready; `degraded` is only reported. */
  status: 'up' | 'degraded' | 'down';
  /** One sentence, when not up. */
  message?: string;
}

export interface HealthSignal {
  name: string;
  read(): HealthReading;
}

/** Token of the list of {@link HealthSignal}s; `app.module` puts it together from the roles of the process. */
export const HEALTH_SIGNALS = Symbol('HealthSignals');
