import { Command, Option } from 'commander';
import {
  type ChangeOptions,
  changeNotifications,
  resolveNotification,
  unmarkNotification,
} from './notifications/change';
import { kindsOf } from './notifications/kinds';
import { listNotifications } from './notifications/list';
import { providersOf } from './notifications/providers';
import { receiversOf } from './notifications/receivers';
import { notificationId, notificationIds, selecting } from './notifications/selection';
import { showNotification, unmaskNotification } from './notifications/show';
import { examples, reason, withJson, withLimit } from './options';
import { asking } from './terminal/consent';

const ASKED_FOR = 'why; kept in the audit. Asked for where it is missing';

export function notificationsCommand(): Command {
  const notifications = examples(
    new Command('notifications').description(
      'What people and systems are told by e-mail, SMS and webhook: where it stands, sending anew, who is told.',
    ),
    'parley notifications list --order 4500017',
    'parley notifications list --state unknown',
    'parley notifications show 0b4ad6a8-0d5c-5b1d-9f0c-2d0f4b1a7e55',
    'parley notifications resolve 0b4ad6a8-0d5c-5b1d-9f0c-2d0f4b1a7e55 --delivered --reason "it is in their inbox"',
    'parley notifications resend --state failed --channel email --reason "the mail server is mended"',
    'parley notifications receivers set ops-desk --file ops-desk.yaml --plan',
    'parley notifications providers',
    'parley notifications kinds',
  );
  reading(notifications);
  changing(notifications);
  receiversOf(notifications);
  providersOf(notifications);
  kindsOf(notifications);
  return notifications;
}

function reading(notifications: Command): void {
  withJson(withLimit(selecting(notifications.command('list'))))
    .description('Notifications, newest first: where each stands, and what happens next.')
    .action(listNotifications);
  withJson(notifications.command('show').argument('<id>', 'of the notification', notificationId))
    .description('A notification: what it tells, its attempts with what the provider answered, and what to do next.')
    .action(showNotification);
  withJson(notifications.command('unmask').argument('<id>', 'of the notification', notificationId))
    .description('The same with its address and what is sent; the audit keeps who saw it. Never of a secret kind.')
    .addOption(reason('why it has to be seen; must be given').makeOptionMandatory())
    .action(unmaskNotification);
}

function changing(notifications: Command): void {
  asking(withJson(selecting(notifications.command('resend'))))
    .description(
      'Send anew, under an id of its own: named notifications, or at most 1,000 that fit (of failed ones, unless --state says otherwise), which were not sent anew yet. Says which, and asks. Exit 3 when some could not be.',
    )
    .argument('[ids...]', 'of notifications', notificationIds)
    .addOption(reason(ASKED_FOR))
    .action((ids: string[], options: ChangeOptions, command: Command) =>
      changeNotifications('resend', ids, options, command),
    );
  asking(withJson(selecting(notifications.command('cancel'))))
    .description(
      'Give up what waits: named notifications, or at most 1,000 that fit. Says which, and asks. Exit 3 when some could not be.',
    )
    .argument('[ids...]', 'of notifications', notificationIds)
    .addOption(reason(ASKED_FOR))
    .action((ids: string[], options: ChangeOptions, command: Command) =>
      changeNotifications('cancel', ids, options, command),
    );
  asking(withJson(notifications.command('resolve').argument('<id>', 'of the notification', notificationId)))
    .description('Say what was found out about one of which nobody knew whether it went out.')
    .addOption(new Option('--delivered', 'it arrived').default(false).conflicts('notDelivered'))
    .addOption(new Option('--not-delivered', 'it did not').default(false))
    .addOption(reason(ASKED_FOR))
    .action(resolveNotification);
  asking(withJson(notifications.command('unmark').argument('<id>', 'of the notification', notificationId)))
    .description(
      'Have the address that it went to tried again, which a provider refused for good: for what cannot be sent anew, such as a code.',
    )
    .addOption(reason(ASKED_FOR))
    .action(unmarkNotification);
}
