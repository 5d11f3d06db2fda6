import type { IForbiddenRuleType } from 'dependency-cruiser';

interface Room {
  /** Rooms (or a group of them) whose doors it may use. */
  may: readonly string[];
  because: string;
}

const MESSAGING = ['registry', 'kafka', 'channels', 'outbox', 'exchanges', 'consumer', 'triage'].map(
  (name) => `messaging/${name}`,
);
const GROUND = ['platform', 'contracts'];
const BELOW_OUTBOX = [...GROUND, 'messaging/registry', 'messaging/kafka', 'messaging/channels', 'staff'];
const BELOW_ORDERS = [...GROUND, ...MESSAGING, 'staff', 'partners', 'notifications'];

/** Who may import whom. Arrows point down only: what stands higher in this table knows less. */
export const ROOMS: Readonly<Record<string, Room>> = {
  platform: { may: [], because: 'how a process runs has no business word in it' },
  contracts: {
    may: [],
    because: 'what we say and hear is pure, so that the partner kit and the tests can use it alone',
  },
  staff: { may: ['platform'], because: 'who may do what is known without knowing any document' },
  'messaging/registry': { may: GROUND, because: 'bytes are made from contracts; no business room decides about them' },
  'messaging/evolution': {
    may: [...GROUND, 'messaging/registry', 'messaging/channels'],
    because: 'what may change in a schema is judged from contracts and the registry alone',
  },
  asyncapi: {
    may: [...GROUND, 'messaging/registry', 'messaging/channels'],
    because: "a partner's documentation is made from contracts and channels alone",
  },
  'messaging/kafka': { may: GROUND, because: 'it hands out our own small types, which know no business' },
  'messaging/channels': { may: GROUND, because: 'partners writes through its door' },
  'messaging/outbox': { may: BELOW_OUTBOX, because: 'sending knows neither who answers nor what is answered' },
  'messaging/exchanges': {
    may: [...BELOW_OUTBOX, 'messaging/outbox'],
    because: 'orders registers what a deadline does; the ledger does not know orders',
  },
  'messaging/consumer': {
    may: [...BELOW_OUTBOX, 'messaging/outbox', 'messaging/exchanges'],
    because: 'business rooms register their handlers; the consumer does not know them',
  },
  'messaging/triage': {
    may: [...BELOW_OUTBOX, 'messaging/outbox', 'messaging/exchanges', 'messaging/consumer'],
    because: 'people work on failures of every document; what a document means for that is registered by its room',
  },
  partners: {
    may: [...GROUND, ...MESSAGING, 'messaging/evolution', 'staff'],
    because: 'a partner exists before its first order',
  },
  notifications: {
    may: [...GROUND, ...MESSAGING, 'staff', 'partners'],
    because: 'it is told what happened, in its own words',
  },
  orders: { may: BELOW_ORDERS, because: 'shipments build on orders, not the other way round' },
  shipments: { may: [...BELOW_ORDERS, 'orders'], because: 'a despatch advice belongs to an order' },
  health: {
    may: ['platform', ...MESSAGING, 'staff'],
    because: "probes look at our own state, never at business data; that anybody may is said in staff's word",
  },
  console: { may: [], because: 'the web page speaks the REST API, as every other client does' },
  simulator: {
    may: ['contracts', 'messaging/registry'],
    because: 'a partner shares documents and bytes with us, nothing else; our mistakes must not cancel out',
  },
  kit: {
    may: [...GROUND, 'asyncapi', 'messaging/channels', 'messaging/registry', 'partners', 'simulator'],
    because: 'it puts together what others make for a partner',
  },
  cli: { may: ['*'], because: 'a command speaks to rooms through their doors' },
};

/** Files of no room: the start, and what knows every room. */
export const OUTSIDE_ROOMS = ['main.ts', 'start.ts', 'app.module.ts', 'app.health.ts'];

const anchored = (room: string) => `^src/${room}/`;
/** `platform` is a row of small rooms, each with its door, and three single files. */
const PLATFORM_DOORS = '^src/platform/([^/]+/index|errors|clock|node-version)\\.ts$';

function roomRule([name, room]: [string, Room]): IForbiddenRuleType[] {
  if (room.may.includes('*')) return [];
  return [
    {
      name: `room: ${name}`,
      comment: `${name} may use ${room.may.join(', ') || 'no other room'}: ${room.because}`,
      severity: 'error',
      from: { path: anchored(name) },
      to: { path: '^src/', pathNot: [name, ...room.may].map(anchored) },
    },
  ];
}

/** A room's further door, to what loads nothing of it. */
const LIGHT_DOORS: Readonly<Record<string, string>> = { notifications: '^src/notifications/kinds/index\\.ts$' };

function doorRule(name: string): IForbiddenRuleType {
  return {
    name: `door: ${name}`,
    comment: `${name} is entered through its index.ts: what lies behind it can change without asking anyone`,
    severity: 'error',
    from: { path: '^(src|migrations)/', pathNot: anchored(name) },
    to: {
      path: anchored(name),
      pathNot: [name === 'platform' ? PLATFORM_DOORS : `^src/${name}/index\\.ts$`, LIGHT_DOORS[name] ?? []].flat(),
    },
  };
}

const FURTHER: IForbiddenRuleType[] = [
  {
    name: 'door: inside platform',
    comment: 'the rooms of platform use each other through their doors',
    severity: 'error',
    from: { path: '^src/platform/([^/]+)/' },
    to: { path: '^src/platform/', pathNot: ['^src/platform/$1/', PLATFORM_DOORS] },
  },
  {
    name: 'no cycle',
    comment: 'what needs each other is one thing, or one of the two arrows is wrong; types alone may point back',
    severity: 'error',
    from: {},
    to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
  },
  {
    name: 'no dev dependency',
    comment: 'the image is built without them, and what no package.json names may vanish',
    severity: 'error',
    from: { path: '^(src|migrations)/' },
    to: {
      dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown', 'undetermined'],
      dependencyTypesNot: ['type-only'],
    },
  },
  {
    name: 'kafka clients',
    comment: 'only messaging/kafka knows a Kafka client; the simulator has another one than the relay and the consumer',
    severity: 'error',
    // What the kit hands out is a partner's code; nothing of ours imports it.
    from: { path: '^src/', pathNot: ['^src/messaging/kafka/', '^src/simulator/', '^src/kit/files/'] },
    to: { path: 'node_modules/(kafkajs|@platformatic/kafka)/' },
  },
  {
    name: 'the partner has another client',
    comment: 'with the same client on both sides its mistakes cancel out',
    severity: 'error',
    from: { path: '^src/simulator/' },
    to: { path: 'node_modules/kafkajs/' },
  },
  {
    name: 'pure: contracts',
    comment: 'schemas and types need no package',
    severity: 'error',
    from: { path: '^src/contracts/' },
    to: { dependencyTypes: ['npm', 'core'] },
  },
  {
    name: 'pure: domain packages',
    comment: 'decisions are functions on plain data: no framework, driver, clock or randomness',
    severity: 'error',
    from: { path: '/domain/' },
    to: { dependencyTypes: ['npm', 'core'] },
  },
  {
    name: 'pure: domain imports',
    comment: 'a decision uses pure files of its room and of contracts; from elsewhere only types',
    severity: 'error',
    from: { path: '^src/(.+)/domain/' },
    to: { path: '^src/', pathNot: ['^src/$1/domain/', '^src/contracts/'], dependencyTypesNot: ['type-only'] },
  },
];

export const RULES: IForbiddenRuleType[] = [
  ...Object.entries(ROOMS).flatMap(roomRule),
  ...Object.keys(ROOMS).map(doorRule),
  ...FURTHER,
];
