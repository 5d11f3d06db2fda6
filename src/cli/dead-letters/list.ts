import type { Command } from 'commander';
import type { DeadLetterDto, FailureGroupDto } from '../../messaging/triage';
import { ApiClient } from '../api-client';
import { hint } from '../output';
import { list } from '../listing';
import type { Column } from '../terminal/table';
import { localTime } from '../terminal/words';
import { type SelectionOptions, selectionOf } from './selection';

export interface ListOptions extends SelectionOptions {
  groups: boolean;
  state?: string;
  limit: number;
  json: boolean;
}

const LETTERS: Column<DeadLetterDto>[] = [
  { title: 'ID', of: ({ id }) => id },
  { title: 'STATE', of: ({ state }) => state },
  { title: 'PARTNER', of: ({ partner }) => partner },
  { title: 'ORDER', of: ({ key }) => key, most: 30 },
  { title: 'DOCUMENT', of: ({ contract, type }) => contract ?? type, most: 30 },
  { title: 'FAILED', of: ({ lastFailedAt }) => localTime(lastFailedAt) },
  { title: 'HOLDS', of: ({ held }) => held || null },
  { title: 'CODE', of: ({ code }) => code },
  { title: 'WHY', of: ({ pointer, detail }) => [pointer, detail].filter(Boolean).join(' ') },
];

const GROUPS: Column<FailureGroupDto>[] = [
  { title: 'GROUP', of: ({ fingerprint }) => fingerprint },
  { title: 'OPEN', of: ({ open }) => open },
  { title: 'CODE', of: ({ code }) => code },
  { title: 'DOCUMENT', of: ({ contract, type }) => contract ?? type, most: 30 },
  { title: 'WHERE', of: ({ pointer, failedIn }) => pointer ?? failedIn, most: 30 },
  { title: 'FIRST', of: ({ firstSeen }) => localTime(firstSeen) },
  { title: 'LAST', of: ({ lastSeen }) => localTime(lastSeen) },
  { title: 'WHO', of: ({ assignee }) => assignee, most: 20 },
  { title: 'PARTNERS', of: partnersOf, most: 40 },
  { title: 'NOTE', of: ({ note }) => note?.replaceAll(/\s+/g, ' ') },
];

function partnersOf({ partners, partnerCount }: FailureGroupDto): string {
  const more = partnerCount - partners.length;
  return more > 0 ? `${partners.join(',')} and ${more} more` : partners.join(',');
}

export async function listDeadLetters(options: ListOptions, command: Command): Promise<void> {
  const { groups, state, limit, json, ...selection } = options;
  const filter = selectionOf(selection);
  const api = ApiClient.fromEnvironment();
  if (!groups) {
    const none = 'No dead letters. What waits for its next attempt: parley parked list';
    const path = '/v1/dead-letters';
    const [first] = await list(api, { path, query: { ...filter, state }, columns: LETTERS, limit, json, none });
    if (first && !json) hint(`Next: parley dead-letters show ${first.id}`);
    return;
  }
  const narrowed = Object.values(filter).some((value) => value !== undefined);
  if (narrowed || state === 'resolved')
    command.error('parley: --groups goes with --state open or all, --limit and --json only.');
  const [first] = await list(api, {
    path: '/v1/dead-letter-groups',
    query: { state },
    columns: GROUPS,
    ...{ limit, json, none: 'No dead letters.' },
  });
  if (first && !json) hint(`Next: parley dead-letters list --group ${first.fingerprint}`);
}
