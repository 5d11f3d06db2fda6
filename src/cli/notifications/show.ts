import type { NotificationViewDto, UnmaskedNotificationDto } from '../../notifications';
import { ApiClient } from '../api-client';
import { hint, print } from '../output';
import { nextSteps, section, viewLines } from './view';

export const pathOf = (id: string): string => `/v1/notifications/${id}`;

export async function showNotification(id: string, { json }: { json: boolean }): Promise<void> {
  const notification = await ApiClient.fromEnvironment().get<NotificationViewDto>(pathOf(id));
  print(json, notification, viewLines(notification));
  if (!json) nextSteps(notification).forEach(hint);
}

/** With its address and what is sent. The audit keeps who saw it, and why. */
export async function unmaskNotification(
  id: string,
  { reason, json }: { reason: string; json: boolean },
): Promise<void> {
  const { body } = await ApiClient.fromEnvironment().ask<UnmaskedNotificationDto>('POST', `${pathOf(id)}/unmasking`, {
    body: { reason },
  });
  print(json, body, [...viewLines(body), ...section('What is sent', contentLines(body))]);
}

function contentLines({ content }: UnmaskedNotificationDto): string[] {
  if (content === null) return ['  It is made with the first attempt.'];
  const texts = [content['subject'], content['text'], content['body']].filter((text) => typeof text === 'string');
  const html = typeof content['html'] === 'string' ? ['  It has an HTML part, too: see --json.'] : [];
  return [...texts.flatMap((text) => text.split(/\r?\n/).map((line) => `  ${line}`)), ...html];
}
