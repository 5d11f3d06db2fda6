/** A `pg_snapshot`: which transaction ids had ended when it was taken. */
export interface Snapshot {
  /** Every id below had ended. */
  xmin: bigint;
  /** No id from here on had ended. */
  xmax: bigint;
  /** Ids in between that had not. */
  xip: readonly bigint[];
}

/** Parses PostgreSQL's text form `xmin:xmax:xip,…`. Throws on anything else, so that nothing but numbers gets back into SQL text. */
export function parseSnapshot(text: string): Snapshot {
  const match = /^(\d+):(\d+):((?:\d+(?:,\d+)*)?)$/.exec(text);
  if (!match) throw new Error(`not a pg_snapshot: ${text.slice(0, 80)}`);
  const [, xmin = '', xmax = '', list = ''] = match;
  return { xmin: BigInt(xmin), xmax: BigInt(xmax), xip: list === '' ? [] : list.split(',').map(BigInt) };
}

export function formatSnapshot({ xmin, xmax, xip }: Snapshot): string {
  return `${xmin}:${xmax}:${xip.join(',')}`;
}
