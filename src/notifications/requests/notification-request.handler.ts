import { Controller, Inject } from '@nestjs/common';
import { type NotificationRequest, notificationRequest } from '../../contracts';
import { HandlesContract, type InboundBatch, type Outcome } from '../../messaging/consumer';
import { query, type Tx } from '../../platform/database';
import { type Asked, askedEvent, inDocument } from '../domain/asked-event';
import type { EventFault } from '../domain/event-fault';
import { kindOf, KINDS } from '../kinds/catalogue';
import { Notifications, type RequestOutcome } from '../notifications';
import { requestHash } from './request-hash';

const ASKABLE = KINDS.filter(({ source }) => source === 'request').map(({ name }) => name);

/** Requests of our own systems, a batch at a time. A request has its effect once, however often and under whichever message ids it comes. */
@Controller()
export class NotificationRequestHandler {
  constructor(@Inject(Notifications) private readonly notifications: Notifications) {}

  /** A set of statements, however many messages. */
  @HandlesContract(notificationRequest)
  async handle({ tx, now, messages }: InboundBatch<NotificationRequest>): Promise<Outcome[]> {
    const requests = messages.map(({ value }) => value);
    const partners = await knownPartners(tx, requests);
    const asked = requests.map((request): Asked => {
      if (request.partner !== undefined && !partners.has(request.partner)) return NO_PARTNER;
      return askedEvent(request, kindOf(request.kind), ASKABLE, now);
    });
    const fit = asked.flatMap((one, n) =>
      'code' in one ? [] : [{ ...one, requestHash: requestHash(requests[n] as NotificationRequest) }],
    );
    const outcomes = fit.length > 0 ? await this.notifications.request(tx, fit, now) : [];
    return asked.map((one) => ('code' in one ? dead(one) : outcomeOf(outcomes.shift() as RequestOutcome)));
  }
}

const NO_PARTNER: EventFault = { code: 'partner-unknown', pointer: '/partner', detail: 'there is no such partner' };

async function knownPartners(tx: Tx, requests: readonly NotificationRequest[]): Promise<ReadonlySet<string>> {
  const ids = [...new Set(requests.flatMap(({ partner }) => partner ?? []))];
  if (ids.length === 0) return new Set();
  const rows = await query<{ id: string }>(tx, 'SELECT id FROM partner WHERE id = ANY(:ids::text[])', { ids });
  return new Set(rows.map(({ id }) => id));
}

function outcomeOf(outcome: RequestOutcome): Outcome {
  switch (outcome.outcome) {
    case 'made':
    case 'known':
      return { kind: 'applied' };
    case 'refused':
      return dead(inDocument(outcome.fault));
    case 'reused':
      return {
        kind: 'dead',
        code: 'notification-id-reused',
        detail: 'Something else was asked for under this notificationId before; that one stands.',
        pointer: '/notificationId',
      };
  }
}

const dead = ({ code, pointer, detail }: EventFault): Outcome => ({
  kind: 'dead',
  code,
  pointer,
  detail: `${detail.charAt(0).toUpperCase()}${detail.slice(1)}.`,
});
