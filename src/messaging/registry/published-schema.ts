import { AppError } from '../../platform/errors';
import type { RegisteredSchema, SchemaRegistry, SchemaText } from './schema-registry';

/** How long "no such schema" is believed: long enough for a burst of callers, too short to be noticed after publishing. */
const ABSENT_MS = 1000;

/** The registered form of one of our schemas: asked for until it is found, then kept for ever, for its id can't change. */
export class PublishedSchema {
  private found: RegisteredSchema | undefined;
  private asking: Promise<RegisteredSchema> | undefined;
  private absent: { until: number; error: AppError } | undefined;

  constructor(
    private readonly registry: SchemaRegistry,
    private readonly subject: string,
    private readonly schema: SchemaText,
    private readonly now: () => number,
  ) {}

  /** One question to the registry at a time, whoever asks. */
  resolve(): Promise<RegisteredSchema> {
    if (this.found) return Promise.resolve(this.found);
    if (this.absent && this.now() < this.absent.until) return Promise.reject(this.absent.error);
    return (this.asking ??= this.ask().finally(() => (this.asking = undefined)));
  }

  private async ask(): Promise<RegisteredSchema> {
    const found = await this.registry.lookup(this.subject, this.schema);
    if (found) return (this.found = found);
    const error = new AppError('schema-unpublished', `The schema of ${this.subject} is not published.`, {
      hint: 'Run "parley contracts publish", which registers it.',
      retryAfter: 5,
    });
    this.absent = { until: this.now() + ABSENT_MS, error };
    throw error;
  }
}
