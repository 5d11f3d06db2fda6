const MINUTE_MS = 60_000;

/** So many lines a minute of what others can cause as often as they like; what is left out is counted. */
export class LineLimit {
  private minute = 0;
  private lines = 0;
  private omitted = 0;

  constructor(private readonly most: number) {}

  /** Undefined: not now. Else fields for the line: how many were left out since the last one, if any. */
  next(now: Date): { omitted?: number } | undefined {
    const minute = Math.floor(now.getTime() / MINUTE_MS);
    if (minute !== this.minute) [this.minute, this.lines] = [minute, 0];
    if (this.lines >= this.most) {
      this.omitted++;
      return undefined;
    }
    this.lines++;
    const { omitted } = this;
    this.omitted = 0;
    return omitted > 0 ? { omitted } : {};
  }
}
