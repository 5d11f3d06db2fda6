import { type Applied, type Onboarder, type PartnerFile, specOf, withOnboarder } from '../../src/partners';
import { systemClock } from '../../src/platform/clock';
import type { Config } from '../../src/platform/config';
import type { Database } from '../../src/platform/database';
import type { Caller } from '../../src/staff';
import { eventually } from './eventually';

/** Who onboards in tests. */
export const ONBOARDER: Caller = {
  ...{ id: 'cli:test', name: 'test', role: 'admin', areas: null, partners: null, origin: 'test' },
};

/** Makes a partner what the file says, as `parley partner onboard --apply` does. */
export const onboard = (database: Database, config: Config, file: PartnerFile): Promise<Applied> =>
  onboarding(database, config, (onboarder) => onboarder.apply(specOf(file, config), ONBOARDER));

export const onboarding = <T>(
  database: Database,
  config: Config,
  work: (onboarder: Onboarder) => Promise<T>,
): Promise<T> => withOnboarder({ database, config, clock: systemClock }, work);

/** Resolves when somebody waits for a lock to write down an account, and not only what looks after accounts each minute. */
export const accountWaits = (database: Database): Promise<boolean> =>
  eventually(
    async () =>
      (
        await database.query(
          `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%INSERT INTO partner_account%'`,
        )
      ).length > 0,
    { what: 'an account waits for a lock' },
  );
