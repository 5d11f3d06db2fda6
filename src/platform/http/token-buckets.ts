import { isIPv6 } from 'node:net';

/** Most buckets in memory, some 100 bytes each; the one that was unused longest goes first, and is full when it comes again. */
const MOST = 20_000;

interface Bucket {
  tokens: number;
  at: number;
}

/** A limit for each of many: so many at once, and so many a second. In the memory of this process alone. */
export class TokenBuckets {
  private readonly buckets = new Map<string, Bucket>();

  constructor(
    private readonly perSecond: number,
    /** How much an unused bucket holds. */
    private readonly burst = perSecond,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Takes one token; undefined when there was one, else the seconds until there is. */
  take(name: string): number | undefined {
    const at = this.now();
    const bucket = this.buckets.get(name) ?? this.fresh(name, at);
    bucket.tokens = Math.min(this.burst, bucket.tokens + ((at - bucket.at) / 1000) * this.perSecond);
    bucket.at = at;
    if (bucket.tokens < 1) return Math.ceil((1 - bucket.tokens) / this.perSecond);
    bucket.tokens--;
    return undefined;
  }

  get size(): number {
    return this.buckets.size;
  }

  private fresh(name: string, at: number): Bucket {
    if (this.buckets.size >= MOST) this.forgetOldest();
    const bucket = { tokens: this.burst, at };
    this.buckets.set(name, bucket);
    return bucket;
  }

  /** The first of those that came first, by last use: a tenth at a time, so that a flood of names pays for one pass in many. */
  private forgetOldest(): void {
    const byUse = [...this.buckets].sort(([, a], [, b]) => a.at - b.at);
    for (const [name] of byUse.slice(0, MOST / 10)) this.buckets.delete(name);
  }
}

/**
 * Under which name an address is counted: of IPv6 its /64, which is what one customer gets. Some proxies put the port behind it; what is no
 * address at all is counted together, for anybody could think up one name after the other.
 */
export function addressName(ip: string): string {
  const [, v4] = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)(?::\d+)?$/i.exec(ip) ?? [];
  if (v4 !== undefined) return v4;
  const address = (/^\[(.+)\](?::\d+)?$/.exec(ip)?.[1] ?? ip).split('%', 1)[0] ?? '';
  if (!isIPv6(address)) return 'unknown';
  const [head = '', tail] = address.split('::');
  const groups = head.split(':').filter(Boolean);
  const rest = tail === undefined ? [] : tail.split(':').filter(Boolean);
  const middle = Array<string>(Math.max(0, 8 - groups.length - rest.length)).fill('0');
  return [...groups, ...(tail === undefined ? [] : middle), ...rest].slice(0, 4).join(':').toLowerCase();
}
