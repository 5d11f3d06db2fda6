import { Command } from 'commander';
import type { AccountDto, ListedPartnerDto } from '../../partners';
import { ApiClient } from '../api-client';
import { list } from '../listing';
import { withJson, withLimit } from '../options';
import { hint } from '../output';
import type { Column } from '../terminal/table';
import { localTime } from '../terminal/words';
import { adviceOn, standingOf } from './account-table';

const COLUMNS: readonly Column<ListedPartnerDto>[] = [
  { title: 'PARTNER', of: ({ id }) => id },
  { title: 'NAME', of: ({ name }) => name, most: 30 },
  { title: 'STATE', of: ({ state, since }) => (since === null ? state : `${state} since ${localTime(since)}`) },
  { title: 'ACCOUNT', of: ({ accounts }) => activeOf(accounts)?.username },
  { title: 'STANDING', of: accountsOf },
  { title: 'CERTIFIED', of: certifiedOf },
];

export function listCommand(): Command {
  return withJson(withLimit(new Command('list')))
    .description('All partners: their state, the account that new clients get, and whether their system is certified.')
    .action(show);
}

async function show({ limit, json }: { limit: number; json: boolean }): Promise<void> {
  const partners = await list<ListedPartnerDto>(ApiClient.fromEnvironment(), {
    path: '/v1/partners',
    columns: COLUMNS,
    ...{ limit, json, none: 'No partners yet: parley partner onboard acme --file acme.yaml --plan' },
  });
  if (!json) partners.flatMap(({ id, accounts }) => adviceOn(id, accounts)).forEach(hint);
}

const activeOf = (accounts: readonly AccountDto[]) => accounts.find(({ state }) => state === 'active');

function accountsOf({ accounts }: ListedPartnerDto): string | undefined {
  const active = activeOf(accounts);
  const others = accounts.filter((account) => account !== active);
  const standing = active && standingOf(active);
  return [standing, ...others.map((other) => `${other.username} ${standingOf(other)}`)].filter(Boolean).join('; ');
}

function certifiedOf({ certification }: ListedPartnerDto): string | undefined {
  if (!certification) return undefined;
  const { passed, expired, expiresAt } = certification;
  if (!passed) return 'failed';
  return `${expired ? 'expired' : 'until'} ${localTime(expiresAt)}`;
}
