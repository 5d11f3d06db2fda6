import { Command } from 'commander';
import type { PartnerDto } from '../../partners';
import { ApiClient } from '../api-client';
import { partnerId, withJson } from '../options';
import { hint, print } from '../output';
import { type Column, facts, table } from '../terminal/table';
import { localTime } from '../terminal/words';
import { accountLines, adviceOn } from './account-table';

const CHANNELS: readonly Column<PartnerDto['channels'][number]>[] = [
  { title: 'TOPIC', of: ({ topic }) => topic },
  { title: 'WHO WRITES', of: ({ direction }) => (direction === 'out' ? 'we' : 'they') },
  { title: 'FORMAT', of: ({ format }) => format },
  { title: 'PARTITIONS', of: ({ partitions }) => partitions },
];

export function showCommand(): Command {
  return withJson(new Command('show').argument('<id>', 'the partner', partnerId))
    .description('A partner: state, topics, accounts at the broker, limits, certification.')
    .action(show);
}

async function show(id: string, { json }: { json: boolean }): Promise<void> {
  const partner = await ApiClient.fromEnvironment().get<PartnerDto>(`/v1/partners/${id}`);
  print(json, partner, [
    ...headLines(partner),
    ...section('Topics', table(CHANNELS, partner.channels)),
    ...section('Accounts', accountLines(partner.accounts)),
  ]);
  if (!json) adviceOn(id, partner.accounts).forEach(hint);
}

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ['', title, ...lines];

function headLines({ id, name, state, since, reason, by, ...partner }: PartnerDto): string[] {
  return facts([
    ['partner', id],
    ['name', name],
    ['state', state],
    ['since', since && `${localTime(since)}${by ? ` by ${by}` : ''}${reason ? `: ${reason}` : ''}`],
    ['added', localTime(partner.createdAt)],
    ['limits', limitsOf(partner.quotas)],
    ['certified', certificationOf(partner.certification)],
    ['last sent', localTime(partner.lastSentAt)],
    ['last received', localTime(partner.lastReceivedAt)],
  ]);
}

function limitsOf(quotas: PartnerDto['quotas']): string | null {
  if (quotas === null) return null;
  const { producerBytesPerSecond: written, consumerBytesPerSecond: read, requestPercent } = quotas;
  const limits = [
    ...(written === null ? [] : [`writes ${written.toLocaleString('en')} bytes/s`]),
    ...(read === null ? [] : [`reads ${read.toLocaleString('en')} bytes/s`]),
    ...(requestPercent === null ? [] : [`${requestPercent} % of a request thread`]),
  ];
  return limits.length === 0 ? 'none' : `${limits.join(', ')}, each at each broker`;
}

function certificationOf(certification: PartnerDto['certification']): string {
  if (!certification) return 'never';
  const { suite, passed, failed, skipped, brokers, ranAt, ranBy, expiresAt, expired } = certification;
  const outcome = passed ? (expired ? 'passed, and has expired' : 'passed, until') : `failed ${failed.join(', ')}`;
  const untried = skipped.length > 0 ? `; not tried: ${skipped.join(', ')}` : '';
  const tried = `tried ${localTime(ranAt)} by ${ranBy}${brokers ? ` at ${brokers.join(', ')}` : ''}`;
  return `${outcome}${passed ? ` ${localTime(expiresAt)}` : ''} (suite ${suite}, ${tried}${untried})`;
}
