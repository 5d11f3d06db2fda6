import type { AccountDto } from '../../partners';
import { type Column, table } from '../terminal/table';
import { localTime } from '../terminal/words';

const COLUMNS: readonly Column<AccountDto>[] = [
  { title: 'ACCOUNT', of: ({ username }) => username },
  { title: 'KIND', of: ({ kind }) => kind },
  { title: 'STATE', of: standingOf },
  { title: 'LAST SEEN', of: ({ lastSeenAt }) => localTime(lastSeenAt) },
  { title: 'FROM', of: ({ lastSeenFrom }) => lastSeenFrom },
];

export const accountLines = (accounts: readonly AccountDto[]): string[] => table(COLUMNS, accounts);

/** `active until 2027-03-01 10:00:00, expires soon`. */
export function standingOf({ state, validUntil, warning, disabledAt, retiredAt }: AccountDto): string {
  const disabled = disabledAt ? `disabled since ${localTime(disabledAt)}` : undefined;
  const words = {
    'expires-soon': 'expires soon',
    expired: 'expired, works on',
    overdue: 'overdue: still opens the broker',
  };
  const until = validUntil && state !== 'retired' ? ` until ${localTime(validUntil)}` : '';
  const ended = retiredAt ? ` since ${localTime(retiredAt)}` : '';
  const untold = state === 'creating' ? 'its secret was perhaps told to nobody' : undefined;
  return [`${state}${until}${ended}`, warning ? words[warning] : undefined, disabled, untold]
    .filter(Boolean)
    .join(', ');
}

/** Else it looks as if nobody used them. */
const UNSEEN =
  'None was seen yet. Seen are consumers whose client.id is their account, by a process of Parley that has KAFKA_ADMIN_USERNAME.';

/** What is to be done about the accounts of a partner, in one line each. */
export function adviceOn(partner: string, accounts: readonly AccountDto[]): string[] {
  const of = (fits: (account: AccountDto) => boolean) => accounts.find(fits);
  const overdue = of(({ warning }) => warning === 'overdue');
  const old = of(({ warning }) => warning === 'expires-soon' || warning === 'expired');
  const untold = of(({ state }) => state === 'creating');
  const unseen = accounts.length > 0 && accounts.every(({ lastSeenAt }) => lastSeenAt === null);
  return [
    ...(overdue ? [`${overdue.username} should have ended: parley partner retire ${partner}`] : []),
    ...(untold ? [`${untold.username} gets a new secret with: parley partner rotate ${partner}`] : []),
    ...(old && !untold ? [`${old.username} should be replaced: parley partner rotate ${partner}`] : []),
    ...(unseen ? [UNSEEN] : []),
  ];
}
