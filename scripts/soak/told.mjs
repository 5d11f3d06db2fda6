const NAMES = { email: 'e-mail', sms: 'SMS', webhook: 'webhook' };
const OPEN = new Set(['pending', 'sending']);

/**
 * @typedef {{ id: string, kind: string, channel: 'email' | 'sms' | 'webhook', state: string, doubtful: boolean, resolved: boolean }} Told
 * @typedef {{ name: string, counts: Record<string, number>, faults: string[] }} Account
 */

/**
 * What was to be told: each notification has an end, and was received as often as that end and the crash policy of its kind allow. `sent`: once
 * (where the policy is to repeat: once or more); in doubt: at most once (or any number); everything else never. Nothing was received that we
 * don't know of, and each event was told to whom it had to be told.
 *
 * @param {readonly Told[]} notifications
 * @param {ReadonlyMap<string, number>} received how often, by id
 * @param {ReadonlyMap<string, string>} policies crash policy of each kind, or of `<kind> <channel>` where that is another one
 * @param {readonly string[]} untold events of which somebody should have been told and was not
 * @returns {Account[]}
 */
export function accountNotifications(notifications, received, policies, untold = []) {
  const known = new Set(notifications.map(({ id }) => id));
  const strangers = [...received.keys()].filter((id) => !known.has(id));
  const accounts = Object.entries(NAMES).map(([channel, name]) => {
    const ours = notifications.filter((one) => one.channel === channel);
    const times = ours.map(({ id }) => received.get(id) ?? 0);
    const states = Map.groupBy(ours, ({ state }) => (OPEN.has(state) ? 'waiting' : state));
    const counts = {
      made: ours.length,
      ...Object.fromEntries([...states].map(([state, { length }]) => [state, length])),
      received: times.filter((count) => count > 0).length,
      again: times.filter((count) => count > 1).length,
    };
    const faults = ours.flatMap((one) => {
      const fault = faultOf(
        one,
        received.get(one.id) ?? 0,
        policies.get(`${one.kind} ${one.channel}`) ?? policies.get(one.kind),
      );
      return fault === undefined ? [] : [`${name}: ${one.kind} ${one.id} ${fault}`];
    });
    return { name, counts, faults };
  });
  const others = [
    ...strangers.map((id) => `${id} was received, and is no notification of ours`),
    ...untold.map((event) => `${event} was to be told, and no notification says so`),
  ];
  return [...accounts, ...(others.length > 0 ? [{ name: 'others', counts: {}, faults: others }] : [])];
}

/** What is wrong with how often one was received. */
function faultOf({ state, doubtful, resolved }, count, policy) {
  if (OPEN.has(state)) return `is ${state}, and has no end`;
  const isInDoubt = doubtful || resolved || state === 'unknown';
  const most =
    policy === 'repeat' && (state === 'sent' || isInDoubt) ? Infinity : state === 'sent' || isInDoubt ? 1 : 0;
  if (count > most) return `is ${state}, its policy ${policy}, and was received ${count} times`;
  if (state === 'sent' && !resolved && count === 0) return 'is sent, and was never received';
  return undefined;
}

const NOTIFICATIONS = `SELECT id, kind, channel, state, doubtful, coalesce(code LIKE 'resolved-%', false) AS resolved FROM notification`;
/** Steps of orders of which a receiver was to be told, and is not. */
const UNTOLD = `
  SELECT 'order/' || e.order_number || '/' || e.version || ' (' || s.kind || ' to ' || s.receiver || ' by ' || s.channel || ')' AS event
  FROM orders o JOIN order_event e ON e.order_number = o.order_number
  JOIN (VALUES ('accepted', 'order-accepted'), ('rejected', 'order-rejected'), ('changed', 'order-changed'),
    ('partly-shipped', 'order-shipped'), ('shipped', 'order-shipped')) k (type, kind) ON k.type = e.type
  JOIN notification_subscription s ON s.kind = k.kind AND (s.partners IS NULL OR o.partner = ANY (s.partners))
  WHERE NOT EXISTS (SELECT FROM notification n WHERE n.receiver = s.receiver AND n.channel = s.channel AND n.kind = s.kind
    AND n.event_id = 'order/' || e.order_number || '/' || e.version)`;

/** The account of a run, from the database and from those who were told. */
export async function accountTold(system, database, kinds) {
  const { rows } = await database.query(NOTIFICATIONS);
  const untold = (await database.query(UNTOLD)).rows.map(({ event }) => event);
  const policies = new Map(
    kinds.flatMap(({ name, crash, crashOver = {} }) => [
      [name, crash],
      ...Object.entries(crashOver).map(([channel, policy]) => [`${name} ${channel}`, policy]),
    ]),
  );
  return accountNotifications(rows, system.people.received(), policies, untold);
}
