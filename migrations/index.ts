import { Partners1764460800001 } from './0001-partners';
import { Outbox1764460800002 } from './0002-outbox';
import { Consumer1764460800003 } from './0003-consumer';
import { Exchanges1764460800004 } from './0004-exchanges';
import { Orders1764460800005 } from './0005-orders';
import { Contracts1764460800006 } from './0006-contracts';
import { Cancellation1764460800007 } from './0007-cancellation';
import { Shipments1764460800008 } from './0008-shipments';
import { Staff1764460800009 } from './0009-staff';
import { Failures1764460800010 } from './0010-failures';
import { OutboxLanes1764460800011 } from './0011-outbox-lanes';
import { Deadlines1764460800012 } from './0012-deadlines';
import { Triage1764460800013 } from './0013-triage';
import { Onboarding1764460800014 } from './0014-onboarding';
import { PartnerAccounts1764460800015 } from './0015-partner-accounts';
import { PartnerState1764460800016 } from './0016-partner-state';
import { Certification1764460800017 } from './0017-certification';
import { PersonalData1764460800018 } from './0018-personal-data';
import { Notifications1764460800019 } from './0019-notifications';
import { PartnerWatch1764460800020 } from './0020-partner-watch';
import { AccountAttempts1764460800021 } from './0021-account-attempts';
import { NotificationUrgency1764460800022 } from './0022-notification-urgency';
import { NewDeaths1764460800023 } from './0023-new-deaths';

/** In the order in which they run. Forward only; a released one is never edited. */
export const MIGRATIONS = [
  Partners1764460800001,
  Outbox1764460800002,
  Consumer1764460800003,
  Exchanges1764460800004,
  Orders1764460800005,
  Contracts1764460800006,
  Cancellation1764460800007,
  Shipments1764460800008,
  Staff1764460800009,
  Failures1764460800010,
  OutboxLanes1764460800011,
  Deadlines1764460800012,
  Triage1764460800013,
  Onboarding1764460800014,
  PartnerAccounts1764460800015,
  PartnerState1764460800016,
  Certification1764460800017,
  PersonalData1764460800018,
  Notifications1764460800019,
  PartnerWatch1764460800020,
  AccountAttempts1764460800021,
  NotificationUrgency1764460800022,
  NewDeaths1764460800023,
];
