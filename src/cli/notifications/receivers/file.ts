import { dump } from 'js-yaml';
import type { ReceiverBodyDto, ReceiverDto } from '../../../notifications';
import { AppError } from '../../../platform/errors';
import { parseYaml } from '../../../platform/yaml';

/** What is said of a file that cannot be read, wherever that shows. */
export const UNREADABLE = {
  code: 'receiver-file-unreadable',
  hint: 'docs/notifications/ops-desk.yaml is one that shows everything that can be said.',
};

/**
 * A receiver's file, as the API takes it; what the members may say is the API's to judge. Throws `receiver-file-unreadable`, and
 * `receiver-file-invalid` where it has not their shape.
 */
export function parseReceiverFile(text: string): ReceiverBodyDto {
  const body = parseYaml(text, UNREADABLE);
  if (!isObject(body)) throw invalid("The file does not name a receiver's members.");
  // +4915112345678 without quotes is a number in YAML, and has lost its +.
  if (typeof body['phone'] === 'number')
    throw invalid('The phone number is a number in YAML, without its +.', 'Quote it: phone: "+4915112345678"');
  const { subscriptions, quietHours } = body;
  if (!Array.isArray(subscriptions) || !subscriptions.every(isSubscription))
    throw invalid('Its subscriptions are not a list of entries with a kind and a list of channels.');
  if (quietHours !== undefined && quietHours !== null && !isObject(quietHours))
    throw invalid('Its quietHours are not from, to and timeZone.');
  return body as unknown as ReceiverBodyDto;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isSubscription = (one: unknown): boolean =>
  isObject(one) && typeof one['kind'] === 'string' && Array.isArray(one['channels']) && isList(one['partners']);

const isList = (value: unknown): boolean => value === undefined || value === null || Array.isArray(value);

const invalid = (message: string, hint = UNREADABLE.hint): AppError =>
  new AppError('receiver-file-invalid', message, { hint });

/** The file of a receiver as it is. Masks stand for its addresses; in a file they keep what is stored. */
export function fileOf({ name, email, phone, webhookUrl, quietHours, subscriptions }: ReceiverDto): string {
  const addresses = Object.entries({ email, phone, webhookUrl }).filter(([, value]) => value !== null);
  const body = {
    ...{ name, ...Object.fromEntries(addresses), ...(quietHours && { quietHours }) },
    subscriptions: subscriptions.map(({ kind, channels, partners }) => ({
      kind,
      channels,
      ...(partners && { partners }),
    })),
  };
  return dump(body, { lineWidth: -1 });
}
