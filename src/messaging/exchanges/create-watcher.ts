import { CONTRACTS } from '../../contracts';
import type { Clock } from '../../platform/clock';
import type { Database } from '../../platform/database';
import type { Logger } from '../../platform/telemetry';
import type { ChannelCatalog } from '../channels';
import type { KafkaAdmin } from '../kafka';
import type { Outbox } from '../outbox';
import { DeadlineJudge, type ParkedAnswers } from './deadline-judge';
import { DeadlineWatcher } from './deadline-watcher';
import { DueExchanges } from './due-exchanges';
import type { Exchanges } from './exchanges';
import { ReplyWatch } from './reply-watch';

export interface WatcherOptions {
  database: Database;
  channels: ChannelCatalog;
  /** Its registered handlers are called. */
  exchanges: Exchanges;
  outbox: Outbox;
  admin: Pick<KafkaAdmin, 'groupProgress'>;
  /** Consumer group that reads the partners' answers. */
  group: string;
  parkedAnswers: ParkedAnswers;
  clock: Clock;
  logger: Logger;
}

/** Belongs to processes with the role consumer: they may ask about their group, and without one that reads nothing is due anyway. */
export function createDeadlineWatcher(options: WatcherOptions): DeadlineWatcher {
  const { database, channels, exchanges, outbox, admin, group, parkedAnswers, clock, logger } = options;
  const due = new DueExchanges(database);
  return new DeadlineWatcher({
    database,
    channels,
    contracts: CONTRACTS,
    handlers: exchanges.deadlines,
    due,
    judge: new DeadlineJudge(due, outbox, parkedAnswers),
    replies: new ReplyWatch(database, admin, group),
    outbox,
    clock,
    logger,
  });
}
