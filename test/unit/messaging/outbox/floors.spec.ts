import fc from 'fast-check';
import { Floors } from '../../../../src/messaging/outbox/floors';
import type { Snapshot } from '../../../../src/messaging/outbox/snapshot';

/**
 * A database in miniature: transactions take ids in order, draw numbers later, end in any order; the cursor reads the sequence,
 * and its own write takes an id some time after. `step`s come in any order that a cluster could show.
 */
class Cluster {
  private nextXid = 100n;
  private lastSeq = 0n;
  private readonly running = new Set<bigint>();
  private latestCompleted = 99n;
  readonly rows: { xid: bigint; seq: bigint }[] = [];

  begin(): bigint {
    const xid = this.nextXid++;
    this.running.add(xid);
    return xid;
  }

  insert(xid: bigint): void {
    this.rows.push({ xid, seq: ++this.lastSeq });
  }

  end(xid: bigint): void {
    this.running.delete(xid);
    if (xid > this.latestCompleted) this.latestCompleted = xid;
  }

  get position(): bigint {
    return this.lastSeq;
  }

  snapshot(): Snapshot {
    const xmax = this.latestCompleted + 1n;
    const xip = [...this.running].filter((xid) => xid < xmax).sort((a, b) => (a < b ? -1 : 1));
    return { xmin: xip[0] ?? xmax, xmax, xip };
  }
}

const steps = fc.array(
  fc.record({
    what: fc.constantFrom('begin', 'insert', 'end', 'poll', 'write', 'flushed'),
    which: fc.nat(20),
  }),
  { minLength: 10, maxLength: 200 },
);

describe('the floor', () => {
  it('lies below every row that the cursor has not seen, in any order of events', () => {
    fc.assert(
      fc.property(steps, (script) => {
        const cluster = new Cluster();
        const floors = new Floors({ xmax: 0n, xmin: 0n });
        const open: bigint[] = [];
        let done = cluster.snapshot();
        let known = cluster.position;
        let writes: { xid: bigint; seq: bigint }[] = [];
        for (const { what, which } of script) {
          const xid = open[which % Math.max(1, open.length)];
          if (what === 'begin') open.push(cluster.begin());
          if (what === 'insert' && xid !== undefined) cluster.insert(xid);
          if (what === 'end' && xid !== undefined) cluster.end(open.splice(open.indexOf(xid), 1)[0] ?? xid);
          if (what === 'poll') {
            done = cluster.snapshot();
            known = cluster.position;
          }
          // The write's id is taken now; the relay hears of it when the statement has ended.
          if (what === 'write') writes.push({ xid: cluster.begin(), seq: known });
          if (what === 'flushed') {
            for (const write of writes) {
              cluster.end(write.xid);
              floors.mark(write.xid, write.seq);
            }
            writes = [];
            floors.forget(done);
          }
          const floor = floors.of(done);
          for (const row of cluster.rows) {
            if (row.xid >= done.xmax) expect(row.seq).toBeGreaterThan(floor.xmax);
            else if (done.xip.includes(row.xid)) expect(row.seq).toBeGreaterThan(floor.xmin);
          }
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('follows the writes that ended before the snapshot', () => {
    const floors = new Floors({ xmax: 5n, xmin: 3n });
    floors.mark(100n, 40n);
    floors.mark(110n, 50n);
    expect(floors.of({ xmin: 90n, xmax: 95n, xip: [90n] })).toEqual({ xmax: 5n, xmin: 3n });
    expect(floors.of({ xmin: 105n, xmax: 120n, xip: [105n] })).toEqual({ xmax: 50n, xmin: 40n });
    expect(floors.of({ xmin: 100n, xmax: 110n, xip: [100n] })).toEqual({ xmax: 40n, xmin: 3n });
  });

  it('forgets marks that nothing can ask for, and thins out the rest behind a long transaction', () => {
    const floors = new Floors({ xmax: 0n, xmin: 0n });
    for (let i = 1n; i <= 10_000n; i++) floors.mark(i * 10n, i);
    const { xmax } = floors.of({ xmin: 5n, xmax: 200_000n, xip: [5n] });
    expect(xmax).toBe(10_000n);
    const { xmin } = floors.of({ xmin: 50_000n, xmax: 200_000n, xip: [50_000n] });
    expect(xmin).toBeLessThan(5000n);
    expect(xmin).toBeGreaterThanOrEqual(0n);
    floors.forget({ xmin: 200_000n, xmax: 200_000n, xip: [] });
    expect(floors.of({ xmin: 200_001n, xmax: 200_001n, xip: [] })).toEqual({ xmax: 10_000n, xmin: 10_000n });
  });

  it('does not sink while the cursor waits long for one lane', () => {
    const floors = new Floors({ xmax: 5n, xmin: 5n });
    floors.mark(100n, 1000n);
    const done = { xmin: 110n, xmax: 110n, xip: [] };
    expect(floors.of(done)).toEqual({ xmax: 1000n, xmin: 1000n });
    for (let n = 0n; n < 500n; n++) {
      floors.mark(120n + n, 2000n + n);
      floors.forget(done);
    }
    expect(floors.of(done)).toEqual({ xmax: 1000n, xmin: 1000n });
    // Nor for a reading that runs ahead of it.
    expect(floors.of({ xmin: 700n, xmax: 700n, xip: [] }).xmax).toBe(2499n);
  });
});
