/** Where gauges are shown; each is read from memory at every scrape. Rooms that share a name each bring their part of it. */
export interface GaugeBoard {
  gauges<L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    read: () => readonly { labels: Record<L, string>; value: number }[],
  ): void;
}
