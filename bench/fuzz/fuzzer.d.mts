export interface Target {
  name: string;
  seeds: Buffer[];
  /** Bytes in front that mostly stay as they are. */
  keep: number;
  decode(bytes: Buffer): Promise<unknown>;
  encode?(value: unknown): Promise<{ payload: Buffer }>;
}

export interface FuzzResult {
  done: number;
  outcomes: Record<string, number>;
  slowestMs: number;
  fault: { target: string; why: string; bytes: string } | undefined;
}

export function fuzz(options: { targets: Target[]; seed: number; cases?: number; ms?: number }): Promise<FuzzResult>;
