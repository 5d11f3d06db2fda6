import type { NotificationViewDto } from '../../notifications';
import { facts, table } from '../terminal/table';
import { localTime, localTimes } from '../terminal/words';

type Attempt = NotificationViewDto['history'][number];

/** All that is known of a notification, for people. */
export function viewLines(notification: NotificationViewDto): string[] {
  return [
    ...headLines(notification),
    ...section('What it tells', dataLines(notification)),
    ...section('Attempts', table(ATTEMPTS, notification.history)),
  ];
}

export const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ['', title, ...lines];

function headLines(notification: NotificationViewDto): string[] {
  const { state, version, standing, receiver, kind, summary, code, detail, settledAt } = notification;
  return facts([
    ['notification', notification.id],
    ['state', `${state} (version ${version})`],
    ['standing', localTimes(standing)],
    ['kind', `${kind}: ${summary}`],
    ['to', receiver ? [receiver.id, receiver.name && `(${receiver.name})`].filter(Boolean).join(' ') : ASKED_FOR],
    ['over', `${notification.channel}, address ${notification.address}`],
    ['provider', notification.provider],
    ['partner', notification.partner],
    ['order', notification.orderNumber],
    ['event', notification.eventId],
    ['happened', localTime(notification.happenedAt)],
    ['attempts', notification.attempts],
    ['because', [code, detail && localTimes(detail)].filter(Boolean).join(': ')],
    ['next attempt', localTime(notification.nextAttemptAt)],
    ['expires', settledAt === null ? localTime(notification.expiresAt) : null],
    ['settled', localTime(settledAt)],
    ['sent anew from', notification.resendOf],
    ['sent anew as', notification.resends.join(', ')],
  ]);
}

const ASKED_FOR = 'an address that another system named';

function dataLines({ data }: NotificationViewDto): string[] {
  if (data === null) return ['  A secret of its receiver, which is shown to nobody.'];
  return facts(Object.entries(data).map(([name, value]) => [`  ${name}`, wordsOf(value)]));
}

/** A partner or a receiver is told by its name. */
function wordsOf(value: unknown): string {
  if (typeof value === 'string') return localTimes(value);
  const { id, name, ...more } = (value ?? {}) as Record<string, unknown>;
  if (typeof id === 'string' && typeof name === 'string' && Object.keys(more).length === 0)
    return name === id ? id : `${name} (${id})`;
  return JSON.stringify(value) ?? '';
}

const ATTEMPTS = [
  { title: '  NO', of: ({ number }: Attempt) => `  ${number}` },
  { title: 'WHAT', of: ({ action }: Attempt) => action },
  { title: 'BEGUN', of: ({ begunAt }: Attempt) => localTime(begunAt) },
  { title: 'TOOK', of: tookOf },
  { title: 'OUTCOME', of: ({ outcome }: Attempt) => outcome ?? 'never heard' },
  { title: 'CODE', of: ({ code }: Attempt) => code },
  { title: 'WHY', of: ({ detail }: Attempt) => detail },
  { title: 'REFERENCE', of: ({ providerReference }: Attempt) => providerReference },
  { title: 'BY', of: ({ notifier }: Attempt) => notifier },
];

function tookOf({ begunAt, endedAt }: Attempt): string | null {
  return endedAt === null ? null : `${((Date.parse(endedAt) - Date.parse(begunAt)) / 1000).toFixed(1)} s`;
}

const WHO_KNOWS = {
  email: "the mail server's log",
  sms: 'the SMS provider',
  webhook: 'whoever runs the endpoint',
} as const;

/** What a person can do about it as it stands; none where it takes its course. */
export const nextSteps = (notification: NotificationViewDto): string[] => [
  ...stepsByState(notification),
  ...unmarkSteps(notification),
];

/** Its address was refused for good. */
function unmarkSteps({ id, data, may }: NotificationViewDto): string[] {
  if (!may.includes('unmark')) return [];
  const then = data === null ? '; then have the system that asked for it make a new one' : '';
  return [`Once its address is right, to have it tried again: parley notifications unmark ${id} --reason "…"${then}`];
}

function stepsByState({ id, state, channel, provider, code, may }: NotificationViewDto): string[] {
  const resend = `parley notifications resend ${id}`;
  const able = (verb: (typeof may)[number], ...lines: string[]) => (may.includes(verb) ? lines : []);
  switch (state) {
    case 'unknown':
      return [
        `It may have gone out, and may not: look whether it arrived, or ask ${WHO_KNOWS[channel]}. Then say which:`,
        ...able('resolve', `  parley notifications resolve ${id} --delivered --reason "…", or --not-delivered`),
        ...able('resend', `Or, where a second one does no harm: ${resend}`),
      ];
    case 'failed':
    case 'expired':
      return able('resend', `Once the cause is mended: ${resend}`);
    case 'cancelled':
      return able('resend', `To send it all the same: ${resend}`);
    case 'sent':
      return able('resend', `It did not arrive? Look on the receiver's side first; then ${resend}`);
    case 'pending':
      return [
        ...(code === null ? [] : [`How ${provider} does: parley notifications providers`]),
        ...able('cancel', `To give it up: parley notifications cancel ${id}`),
      ];
    case 'sending':
      return [];
  }
}
