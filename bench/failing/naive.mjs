import pg from 'pg';

const STATEMENTS = [
  { name: 'inbox', text: 'INSERT INTO naive_inbox (id) VALUES ($1) ON CONFLICT DO NOTHING' },
  { name: 'effect', text: 'INSERT INTO effect (n, key) VALUES ($1, $2)' },
];
const FIRST_PAUSE_MS = 100;
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * The consumer that is written first everywhere: each partition in order, a transaction for each message (its id, so that a
 * repeat has no effect, and its effect); what fails is tried again in place with a doubling pause, and after the last attempt
 * it is written to the log and left. All partitions at once, a connection for each.
 */
export class NaiveConsumer {
  applied = 0;
  given = 0;
  #stopped = false;

  constructor(url, faults, { attempts = 12 } = {}) {
    this.pool = new pg.Pool({ connectionString: url, max: 12 });
    this.faults = faults;
    this.attempts = attempts;
  }

  /** Processes for `ms` at most; messages applied a second. */
  async run(partitions, ms) {
    const began = performance.now();
    const timer = setTimeout(() => (this.#stopped = true), ms);
    await Promise.all(partitions.map((records) => this.partition(records)));
    clearTimeout(timer);
    return (this.applied * 1000) / (performance.now() - began);
  }

  async partition(records) {
    for (const record of records) {
      if (this.#stopped) return;
      await this.one(record);
    }
  }

  async one(record) {
    for (let attempt = 1; !this.#stopped; attempt++) {
      try {
        await this.handle(record);
        this.applied++;
        return;
      } catch {
        if (attempt >= this.attempts) {
          this.given++;
          return;
        }
        await sleep(FIRST_PAUSE_MS * 2 ** (attempt - 1));
      }
    }
  }

  async handle({ headers, key, value }) {
    const { step } = JSON.parse(value.toString());
    const client = await this.pool.connect();
    try {
      await client.query('BEGIN');
      const { rowCount } = await client.query({ ...STATEMENTS[0], values: [String(headers.ce_id)] });
      if (rowCount > 0) {
        this.faults.check(step);
        await client.query({ ...STATEMENTS[1], values: [step, key.toString()] });
      }
      await client.query('COMMIT');
    } catch (error) {
      await client.query('ROLLBACK');
      throw error;
    } finally {
      client.release();
    }
  }

  async close() {
    this.#stopped = true;
    await this.pool.end();
  }
}
