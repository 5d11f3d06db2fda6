import type { Client } from 'pg';

/** The cursors that look right. Each reads what it believes to be new; tests show what it misses. */
export class NaiveReader {
  readonly seen: string[] = [];
  private seq = '0';
  private xid = '0';
  private stopped = false;
  private running: Promise<void> | undefined;

  constructor(
    private readonly client: Client,
    readonly kind: 'seq' | 'seq below xmin' | 'xid, seq below xmin',
  ) {}

  get position(): bigint {
    return BigInt(this.seq);
  }

  async poll(): Promise<number> {
    const below = 'xid < pg_snapshot_xmin(pg_current_snapshot())';
    const { rows } = await this.client.query<{ id: string; seq: string; xid: string }>(
      {
        seq: `SELECT id, seq, xid::text FROM outbox_message WHERE seq > ${this.seq} ORDER BY seq LIMIT 200`,
        'seq below xmin': `SELECT id, seq, xid::text FROM outbox_message WHERE seq > ${this.seq} AND ${below} ORDER BY outbox_message.seq LIMIT 200`,
        'xid, seq below xmin': `SELECT id, seq, xid::text FROM outbox_message m WHERE (m.xid, m.seq) > ('${this.xid}'::xid8, ${this.seq}) AND m.${below} ORDER BY m.xid, m.seq LIMIT 200`,
      }[this.kind],
    );
    for (const row of rows) {
      this.seen.push(row.id);
      this.seq = row.seq;
      this.xid = row.xid;
    }
    return rows.length;
  }

  start(): void {
    const loop = async () => {
      while (!this.stopped) await this.poll();
    };
    this.running = loop();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.running;
  }
}
