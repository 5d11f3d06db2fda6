import type { Access } from '../access';
import { TEST_ARTICLES } from '../articles';
import type { CompanyDesk, Prepared } from '../company/company-desk';
import type { Exchange, OrderFile } from '../company/ledger';
import { finalOf } from './judging';
import type { Outcome } from './suite';

export interface Patience {
  /** For the first answer of all: the partner's system may be starting. */
  connectMs: number;
  /** For the final answer to an order. */
  withinMs: number;
  /** How long is waited for what must not come. */
  settleMs: number;
  /** Orders of a burst. */
  burst: number;
}

/** A broker that was started for this certification. */
export interface Sandbox {
  restartBroker: () => Promise<void>;
}

/** What scenarios play on. */
export interface Stage {
  desk: CompanyDesk;
  patience: Patience;
  /** Part of the order numbers, another for each run. */
  run: string;
  /** The partner's own account, where it was given: what that may not do is tried with it. */
  partnerAccess: Access | undefined;
  sandbox: Sandbox | undefined;
}

export interface Scenario {
  name: string;
  title: string;
  expected: (patience: Patience) => string;
  play: (stage: Stage) => Promise<Outcome>;
}

export const numberOf = ({ run }: Stage, what: string, index: number | string = 1): string =>
  `CERT-${run}-${what}-${index}`;

export const fileOf = ({ desk }: Stage, { order }: Exchange): OrderFile => {
  const file = desk.ledger.orders.get(order);
  if (!file) throw new Error(`no order ${order}`);
  return file;
};

/** Something was said about it that could not be read or accepted. */
export const hasFault = ({ desk }: Stage, { order }: Exchange): boolean =>
  (desk.ledger.orders.get(order)?.faults.length ?? 0) > 0;

/** Waits for the final answer, or for what can't be one. */
export async function awaitFinal(stage: Stage, exchange: Exchange, withinMs = stage.patience.withinMs): Promise<void> {
  await stage.desk.until(() => finalOf(exchange) ?? (hasFault(stage, exchange) ? true : undefined), withinMs);
}

/** Waits for what must not come. */
export async function settle({ desk, patience }: Stage): Promise<void> {
  await desk.until(() => undefined, patience.settleMs);
}

/**
 * An order to be accepted whose key lies on the same partition as `beside`: its answer shows that what was written there before
 * it was read.
 */
export async function fenceBeside(stage: Stage, beside: string, what: string): Promise<Prepared> {
  const partition = stage.desk.partitionOf(beside);
  for (let index = 1; ; index++) {
    const number = numberOf(stage, `${what}-FENCE`, index);
    if (stage.desk.partitionOf(number) === partition) return stage.desk.order(number, [TEST_ARTICLES.AP]);
  }
}
