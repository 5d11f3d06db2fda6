import 'reflect-metadata';
import { type PartnerFile, specOf } from '../../../../src/partners';
import { uniqueName } from '../../../support/kafka';
import { ONBOARDER } from '../../../support/partners';
import { hearing, type Moment, openRoom, type Room } from './guarded';

let room: Room;

beforeAll(async () => {
  room = await openRoom();
});
afterAll(() => room.close());

const fileOf = (partner = uniqueName('acme')): PartnerFile => ({ partner, format: 'json', partitions: 1 });
const apply = (file: PartnerFile, hear: (moment: Moment) => void) =>
  room.onboarder(hearing(hear)).apply(specOf(file, room.config), ONBOARDER);

/** All that there is of a partner, without its name: equal for two that were made equal. */
async function stateOf(partner: string): Promise<unknown> {
  const rows = (sql: string) => room.database.query(sql, { partner });
  const channels = await room.database.query<{ topic: string }>(
    'SELECT topic, direction, format, partitions, max_message_bytes FROM channel WHERE partner = :partner ORDER BY topic',
    { partner },
  );
  const topics = channels.flatMap(({ topic }) => [topic, `${topic}-dlt`]);
  const names = ['retention.ms', 'max.message.bytes', 'min.insync.replicas', 'compression.type'];
  const options = await room.security.topicOptions(topics, names);
  const state = {
    channels,
    topics: [...(await room.admin.describeTopics(topics)).values()].map(({ topic, partitions }) => ({
      ...{ topic, partitions, options: options.get(topic) },
    })),
    acls: (await room.security.acls()).filter((acl) => JSON.stringify(acl).includes(partner)),
    quota: await room.security.quota(`${partner}.1`),
    users: [...(await room.security.users([`${partner}.1`, `${partner}.2`]))],
    accounts: await rows('SELECT username, kind, state FROM partner_account WHERE partner = :partner'),
    owned: await rows('SELECT kind, name FROM partner_resource WHERE partner = :partner ORDER BY kind, name'),
    spec: await rows('SELECT spec FROM partner_spec WHERE partner = :partner'),
    partner: await rows('SELECT id, name, state FROM partner WHERE id = :partner'),
  };
  const sorted = (list: unknown[]) => list.map((one) => JSON.stringify(one)).toSorted();
  const text = JSON.stringify({ ...state, topics: sorted(state.topics), acls: sorted(state.acls) });
  return JSON.parse(text.replaceAll(partner, 'PARTNER')) as unknown;
}

/** Every moment at which an onboarding can die, in order. */
const MOMENTS: readonly Moment[] = [
  // The partner's row.
  ...(['transaction before', 'transaction after'] as const),
  // Each kind of thing: written down, then made.
  ...([
    'transaction before',
    'transaction after',
    'ensureTopics before',
    'ensureTopics half',
    'ensureTopics after',
  ] as const),
  ...(['transaction before', 'transaction after', 'addAcls before', 'addAcls half', 'addAcls after'] as const),
  ...(['transaction before', 'transaction after', 'putQuota before', 'putQuota after'] as const),
  // The account: its row, written down, its user behind the row's lock.
  ...(['transaction before', 'transaction after', 'transaction before', 'transaction after'] as const),
  ...(['transaction before', 'putUser before', 'putUser after', 'transaction after'] as const),
  // Channels and all that makes the partner usable.
  ...(['transaction before', 'transaction after'] as const),
  // The account's secret was told.
  ...(['transaction before', 'transaction after'] as const),
];

describe('an onboarding that dies', () => {
  let whole: unknown;

  beforeAll(async () => {
    // The first partner of all brings Parley's right to its group along.
    await room.apply(fileOf());
    const file = fileOf();
    const heard: Moment[] = [];
    await apply(file, (moment) => void heard.push(moment));
    expect(heard).toEqual(MOMENTS);
    whole = await stateOf(file.partner);
  });

  it.each(MOMENTS.map((moment, index) => [moment, index] as const))(
    'at "%s" (moment %i) goes on where it stopped, and ends as one that was never broken off',
    async (moment, index) => {
      const file = fileOf();
      const { partner } = file;
      let count = 0;
      const dying = apply(file, (now) => {
        // Dead for good: what would come after it, such as the entry in the audit, does not come either.
        if (count++ >= index) throw new Error(`died at ${now}`);
      });
      await expect(dying).rejects.toThrow(`died at ${moment}`);
      const usable = await room.database.query('SELECT 1 FROM channel WHERE partner = :partner', { partner });
      // Orders are taken only when everything that they need is there.
      expect(usable.length > 0).toBe(index >= MOMENTS.length - 3);
      const { account } = await room.apply(file);
      // Whoever was told a secret before is told the one that counts.
      expect(account?.password === undefined).toBe(index === MOMENTS.length - 1);
      expect(await stateOf(partner)).toEqual(whole);
      const further: Moment[] = [];
      await apply(file, (now) => void further.push(now));
      expect(further).toEqual([]);
    },
  );
});

describe('two onboardings of a partner at once', () => {
  it('are one: the second is told so, and another partner is none of their business', async () => {
    const file = fileOf();
    let go: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (go = resolve));
    let begun: () => void = () => undefined;
    const beginning = new Promise<void>((resolve) => (begun = resolve));
    const slow = room.onboarder((door) =>
      Object.assign(Object.create(door) as typeof door, {
        describeTopics: async (names: readonly string[]) => {
          begun();
          await held;
          return room.admin.describeTopics(names);
        },
      }),
    );
    const first = slow.apply(specOf(file, room.config), ONBOARDER);
    await beginning;
    await expect(room.apply(file)).rejects.toMatchObject({ code: 'partner-busy', retriable: true });
    expect((await room.apply(fileOf())).account).toBeDefined();
    go();
    expect((await first).account).toMatchObject({ username: `${file.partner}.1` });
    expect(await room.planned(file)).toEqual([]);
  });
});

describe('a plan that was seen', () => {
  it('is applied only as long as it is still the plan', async () => {
    const file = fileOf();
    const spec = specOf(file, room.config);
    const seen = await room.onboarder().plan(spec);
    await room.security.putQuota(`${file.partner}.1`, { producerByteRate: 1 });
    const again = room.onboarder().apply(spec, ONBOARDER, { planId: seen.id });
    await expect(again).rejects.toMatchObject({ code: 'partner-plan-changed' });
    expect(await room.database.query('SELECT 1 FROM partner WHERE id = :id', { id: file.partner })).toEqual([]);
    const { id } = await room.onboarder().plan(spec);
    expect((await room.onboarder().apply(spec, ONBOARDER, { planId: id })).account).toBeDefined();
  });
});
