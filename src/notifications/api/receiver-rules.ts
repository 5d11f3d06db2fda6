import { isMask } from '../../contracts';
import type { Violation } from '../../platform/errors';
import type { NotificationKind } from '../domain/kind';
import type { Channel } from '../domain/notification';
import { type ADDRESSES, type Receiver, type ReceiverDraft, receiverViolations } from '../domain/receiver';
import type { ReceiverBodyDto } from './receiver-body.dto';

/** What this installation can do. */
export interface Surroundings {
  kindOf: (name: string) => NotificationKind | undefined;
  isConfigured: (channel: Channel) => boolean;
  /** What is wrong with a webhook's URL; undefined: nothing that can be seen. */
  urlFault: (url: string) => string | undefined;
}

type AddressMember = (typeof ADDRESSES)[Channel];

/** The receiver that is meant: a mask stands for the address that is stored. `violations`: where none is. */
export function meantReceiver(
  id: string,
  body: ReceiverBodyDto,
  stored: Receiver | undefined,
): { draft: ReceiverDraft; violations: Violation[] } {
  const violations: Violation[] = [];
  const meant = (member: AddressMember): string | null => {
    const given = body[member] ?? null;
    if (given === null || !isMask(given)) return given;
    const kept = stored?.[member] ?? null;
    if (kept === null)
      violations.push({ pointer: `/${member}`, detail: 'is a mask and stands for nothing: none is stored' });
    return kept;
  };
  const draft: ReceiverDraft = {
    ...{ id, name: body.name, email: meant('email'), phone: meant('phone'), webhookUrl: meant('webhookUrl') },
    quietHours: body.quietHours ?? null,
    subscriptions: body.subscriptions.map(({ kind, channels, partners }) => ({
      kind,
      channels,
      partners: partners ?? null,
    })),
  };
  return { draft, violations };
}

/** Every rule that it breaks, with a JSON Pointer into the body. No sentence quotes an address. */
export function violationsOf(
  draft: ReceiverDraft,
  stored: Receiver | undefined,
  { kindOf, isConfigured, urlFault }: Surroundings,
): Violation[] {
  const { webhookUrl } = draft;
  const found = receiverViolations(draft);
  // What is stored was fit when it came: rules that became stricter since hinder no other change.
  const fault = webhookUrl === null || webhookUrl === stored?.webhookUrl ? undefined : urlFault(webhookUrl);
  if (fault !== undefined && !found.some(({ pointer }) => pointer === '/webhookUrl'))
    found.push({ pointer: '/webhookUrl', detail: fault });
  if (webhookUrl !== null && webhookUrl !== stored?.webhookUrl && !isConfigured('webhook'))
    found.push({ pointer: '/webhookUrl', detail: notConfigured('webhook') });
  draft.subscriptions.forEach(({ kind: name, channels }, n) => {
    const at = `/subscriptions/${n}`;
    const kind = kindOf(name);
    const unknown = kindFault(kind, name);
    if (unknown !== undefined) found.push({ pointer: `${at}/kind`, detail: unknown });
    channels.forEach((channel, c) => {
      const pointer = `${at}/channels/${c}`;
      if (kind && !kind.channels.includes(channel))
        found.push({ pointer, detail: `must be a channel that ${name} takes: ${kind.channels.join(', ')}` });
      if (!isConfigured(channel) && !isStored(stored, name, channel))
        found.push({ pointer, detail: notConfigured(channel) });
    });
  });
  return found;
}

const isStored = (stored: Receiver | undefined, kind: string, channel: Channel): boolean =>
  stored?.subscriptions.some((one) => one.kind === kind && one.channels.includes(channel)) ?? false;

const WHO = { request: 'another system names', staff: 'staff test' } as const;

function kindFault(kind: NotificationKind | undefined, name: string): string | undefined {
  if (!kind) return 'must be a kind that exists; "parley notifications kinds" lists them';
  return kind.source === 'event'
    ? undefined
    : `must be told by Parley itself; ${name} goes to whom ${WHO[kind.source]}`;
}

const MISSING: Readonly<Record<Channel, string>> = {
  email: 'SMTP_HOST',
  sms: 'SMS_URL',
  webhook: 'WEBHOOK_SECRET_KEYS',
};
const notConfigured = (channel: Channel): string =>
  `must be a channel that is configured here; ${MISSING[channel]} is not set`;
