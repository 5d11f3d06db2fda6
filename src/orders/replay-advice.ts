import { orderCancellationResponse, orderResponse, typeOf } from '../contracts';
import type { AdvisedBatch, AdvisedMessage, Objection, ReplayAdvice, ReplayAdvisors } from '../messaging/triage';
import { CANCELLATION_RESPONSE, type Foresight, prospectOf, RESPONSE } from './domain/replaying';
import type { OrderRepository } from './order.repository';

const CLOSED: Objection = {
  code: 'order-closed',
  detail: 'What was recorded of the order before contradicts it: it would only die again.',
};

/** Says of partners' answers that died which of them their orders can't take any more. */
export function registerReplayAdvice(advisors: ReplayAdvisors, repository: OrderRepository): void {
  advisors.add(typeOf(orderResponse), adviceBy(RESPONSE, repository));
  advisors.add(typeOf(orderCancellationResponse), adviceBy(CANCELLATION_RESPONSE, repository));
}

function adviceBy(foresight: Foresight, repository: OrderRepository): ReplayAdvice {
  return async (batch: AdvisedBatch) => {
    const { partner, messages } = batch;
    const numbers = [...new Set(messages.map(({ key }) => key))];
    const orders = new Map((await repository.look(partner, numbers)).map((order) => [order.orderNumber, order]));
    const objections = new Map<string, Objection>();
    const unsure: AdvisedMessage[] = [];
    for (const message of messages) {
      const order = orders.get(message.key);
      const prospect = order && prospectOf(foresight, order, message.correlationId ?? '');
      if (prospect === 'contradicts') objections.set(message.id, CLOSED);
      if (prospect === 'depends') unsure.push(message);
    }
    const read = await batch.documents(unsure.map(({ id }) => id));
    for (const { id, key, correlationId } of unsure) {
      const order = orders.get(key);
      const { responseCode } = (read.get(id) ?? {}) as { responseCode?: string };
      if (order && responseCode !== undefined && foresight.refuses(order, correlationId ?? '', responseCode))
        objections.set(id, CLOSED);
    }
    return objections;
  };
}
