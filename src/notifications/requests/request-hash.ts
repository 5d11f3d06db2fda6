import { hash } from 'node:crypto';
import type { NotificationRequest } from '../../contracts';

/**
 * Hex; equal for two requests that ask for the same, in whichever formats and order of their data they come. When it happened does not
 * count: a system that has lost whether it asked may have to look at its clock again, and what it asks for stays the same.
 */
export function requestHash(request: NotificationRequest): string {
  const { kind, receiver, channel, address, data, orderNumber, partner, expiresAt } = request;
  const entries = data.map(({ name, value }) => [name, value]).toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1));
  const ends = expiresAt === undefined ? null : new Date(expiresAt.toUpperCase()).getTime();
  const said = [kind, receiver ?? null, channel ?? null, address ?? null, entries, orderNumber ?? null];
  return hash('sha256', JSON.stringify([...said, partner ?? null, ends]), 'hex');
}
