import { NonRetriableError, type Violation } from '../../platform/errors';

// What staff are refused, and what to do next.

export const notificationUnknown = (): NonRetriableError =>
  new NonRetriableError('notification-unknown', 'There is no notification with this id.');

export const notificationSecret = (kind: string): NonRetriableError =>
  new NonRetriableError('notification-secret', `What a ${kind} says is shown to nobody.`, {
    hint: 'Where it did not arrive, have the system that asked for it make a new one.',
  });

export const receiverUnknown = (): NonRetriableError =>
  new NonRetriableError('receiver-unknown', 'There is no receiver with this id.');

export const receiversNotAllowed = (): NonRetriableError =>
  new NonRetriableError(
    'receivers-not-allowed',
    'This key is confined to some partners, and receivers belong to none.',
  );

export function receiverInvalid(violations: readonly Violation[]): NonRetriableError {
  const [first] = violations;
  const more = violations.length > 1 ? ` and ${violations.length - 1} more` : '';
  return new NonRetriableError('receiver-invalid', `${first?.pointer ?? ''} ${first?.detail ?? ''}${more}.`, {
    violations,
  });
}

export const webhookAbsent = (receiver: string): NonRetriableError =>
  new NonRetriableError('webhook-absent', `${receiver} has no webhook.`);

export const providerUnknown = (): NonRetriableError =>
  new NonRetriableError('notification-provider-unknown', 'There is no provider of this name.');
