import type { NotificationKind } from '../domain/kind';
import { HOUR_MS, PATIENT } from './patience';

export const announcement: NotificationKind = {
  name: 'announcement',
  summary: 'News that nobody waits for and nobody wants twice, on request of another system.',
  channels: ['email', 'sms'],
  crash: 'skip',
  quietHours: 'respect',
  urgency: 'low',
  expiresMs: 48 * HOUR_MS,
  retry: PATIENT,
  source: 'request',
  required: ['title', 'text'],
  example: {
    title: 'Closed between the years',
    text: 'Our warehouse takes no deliveries from 24 December to 1 January.\n\nOrders placed until 20 December are delivered before.',
  },
};
