import type { ProblemCode } from './problem-codes';

/** Codes of what staff do about notifications, who receives them and who sends them. */
export const NOTIFICATION_CODES: Readonly<Record<string, ProblemCode>> = {
  'notification-unknown': {
    status: 404,
    title: 'There is no such notification',
    help: 'GET /v1/notifications lists them; a key that is confined to some partners sees those about these. Settled ones are deleted after NOTIFICATION_RETENTION_DAYS.',
  },
  'notification-state': {
    status: 409,
    title: 'The notification does not stand where that is possible',
    help: 'One that waits can be cancelled, one of which nobody knows whether it went out resolved or sent anew, one that is settled sent anew. One whose address is not marked has nothing to unmark. While a notifier has it, nobody else decides: that takes seconds. GET the notification: "standing" says where it stands, "may" what can be done now.',
  },
  'notification-secret': {
    status: 409,
    title: 'What it says is shown to nobody',
    help: 'Notifications of this kind carry a secret of their receiver, such as a code. It is shown to nobody, staff included, and deleted when it is settled. Where it did not arrive, have the system that asked for it make a new one. Where "may" has "unmark", a provider refused its address for good: POST …/unmarking first, or the new one fails, too.',
  },
  'receiver-unknown': {
    status: 404,
    title: 'There is no such receiver',
    help: 'GET /v1/notification-receivers lists them; PUT /v1/notification-receivers/{id} makes one. A key that is confined to some partners sees none.',
  },
  'receivers-not-allowed': {
    status: 403,
    title: 'The caller is confined to some partners',
    help: 'Receivers belong to no partner. Use a key that is confined to none.',
  },
  'receiver-invalid': {
    status: 422,
    title: 'The receiver breaks a rule',
    help: 'Every violation is listed in "errors" with a JSON Pointer into the body. The page on notifications lists the kinds and the channels that each may take.',
  },
  'receiver-unreachable': {
    status: 409,
    title: 'The receiver has no address',
    help: 'Give it an e-mail address, a phone number or a webhook with PUT /v1/notification-receivers/{id}, then test it.',
  },
  'webhook-absent': {
    status: 409,
    title: 'The receiver has no webhook',
    help: 'Give it a webhook URL with PUT /v1/notification-receivers/{id}: the answer tells its first secret.',
  },
  'webhook-not-disabled': {
    status: 409,
    title: 'The webhook is not disabled',
    help: 'It is sent to as before. Where it is failing for now, POST /v1/notification-providers/{name}/retry has it tried at once.',
  },
  'webhook-secrets-full': {
    status: 409,
    title: 'Too many secrets of the webhook would be valid at once',
    help: 'At most three sign side by side. Wait until an older one has ended, or rotate with "oldValidForHours": 0, which ends all of them at once.',
  },
  'webhooks-unconfigured': {
    status: 503,
    title: 'No webhooks are configured here',
    help: 'This request changed nothing. The operator: set WEBHOOK_SECRET_KEYS (32 random bytes, base64), the key under which secrets of webhooks are sealed.',
  },
  'notification-provider-unknown': {
    status: 404,
    title: 'There is no such provider',
    help: 'GET /v1/notification-providers lists them: "email", "sms", and "webhook/<receiver>", whose "/" is written %2F in a path.',
  },
  'notification-provider-shared': {
    status: 403,
    title: 'The caller is confined to some partners',
    help: 'The providers "email" and "sms" serve all partners. Have somebody try it whose key is confined to none.',
  },
  'notification-provider-disabled': {
    status: 409,
    title: 'The provider is disabled',
    help: 'It failed for days, or cannot be used at all; "disabledReason" says why. When that is mended: POST /v1/notification-receivers/{id}/webhook-enabling.',
  },
};
