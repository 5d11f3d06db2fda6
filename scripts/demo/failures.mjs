import { recordOf, despatchByHand } from './clerk.mjs';
import { readJournal } from './compare.mjs';
import { showVerdict, showWords, stepsOf } from './report.mjs';
import { Staff } from './staff.mjs';
import { eventually, Story } from './story.mjs';
import { bold, dim, say, title } from './terminal.mjs';

/** What the partners do in these stories, by order number, for the simulator. */
export const FAILURE_RULES = [
  ...['--rule', 'FAIL-early=ship-early', '--rule', 'FAIL-comma=misprint', '--rule', 'FAIL-silent=silent'],
  ...['--rule', 'FAIL-*=accept'],
];
/** Orders that were agreed by phone: their goods leave before they are placed. */
const BY_PHONE = ['phone-1', 'phone-2', 'phone-3'];

/** Lets happen what takes a while to fail. */
export async function beginFailures(system, client, schemas) {
  const [acme, globex, initech] = system.partners;
  const story = new Story(system, client, 'FAIL');
  await story.place('comma', globex.id, 2);
  await story.place('silent', acme.id, 1);
  await despatchByHand(system, initech, schemas, BY_PHONE.map(story.numberOf));
  return story;
}

/** What fails, what Parley does about it by itself, and what somebody in support does. Returns whether all is well. */
export async function failurePart(story, ledger) {
  const { system } = story;
  const anna = new Staff(system, system.supportKey);
  title('What fails, and what becomes of it');
  await early(story);
  const letters = await untilDead(story);
  chapter('What cannot heal by itself is kept for people, by cause');
  await anna.run(['dead-letters', 'list', '--groups']);
  await misprint(story, anna, letters.comma);
  await unreadable(anna, letters.garbage);
  await byPhone(story, anna, letters.phone);
  await silent(story, anna);
  chapter('Who did what, and why, stays written');
  await anna.run(['audit', '--caller', anna.id]);
  say();
  ledger.add({ accepted: story.accepted, asked: story.asked, timelines: await story.settled() });
  return showVerdict(ledger.compare(system.journal, 'FAIL'), story.accepted.size);
}

const chapter = (text) => say(`\n  ${bold(text)}`);
const showEnd = (how, timeline) => say(`    ${how}: ${stepsOf(timeline)}`);

/** Goods that leave before the acceptance is written: their advice waits, is tried again, and is applied by itself. */
async function early(story) {
  const [, globex] = story.system.partners;
  await story.place('early', globex.id, 1);
  const number = story.numberOf('early');
  const parked = await eventually(`${number} in /v1/parked`, async () => {
    const answer = await story.client.request(`/v1/parked?key=${number}`);
    return answer?.body.items?.[0];
  });
  await story.end(number);
  chapter(`${globex.id} despatches before it accepts: the advice waits, and is applied by itself`);
  showWords(parked.reason);
  showEnd('tried again until the acceptance was there', await story.client.timeline(number));
}

/** The dead letters that this part is about. */
function untilDead({ client, numberOf, system }) {
  const ofPhone = BY_PHONE.map(numberOf);
  return eventually('the dead letters', async () => {
    const answer = await client.request('/v1/dead-letters?limit=200');
    const letters = answer?.body.items ?? [];
    const journal = readJournal(system.journal);
    const written = journal.find(({ order, code }) => order === 'STORY-garbage' && code === 'garbage');
    const comma = letters.find(({ key, held }) => key === numberOf('comma') && held > 0);
    const garbage = letters.find(({ messageId }) => messageId === written?.id);
    const phone = letters.filter(({ key }) => ofPhone.includes(key));
    return comma && garbage && phone.length === ofPhone.length && { comma, garbage, phone: phone[0] };
  });
}

/** A document that breaks a rule: mended by hand, it is applied, and what was held behind it follows. */
async function misprint(story, anna, { id, partner, messageId, deadLetterTopic }) {
  const { client, system } = story;
  const number = story.numberOf('comma');
  const orders = [...(await client.orders()).values()];
  const others = orders.filter((order) => order.partner === partner && order.state !== 'placed').length;
  chapter(`${partner} writes a decimal comma. Its next despatch of this order is held; ${others} other orders went on`);
  await anna.run(['dead-letters', 'show', id], { before: 'Headers' });
  const { topic } = deadLetterTopic;
  const { partition, offset, headers } = await recordOf(messageId, topic, system);
  say(`    the same bytes are on ${topic} [${partition}] @${offset}, with these headers beside its own:`);
  const added = [...headers.keys()].filter((name) => /^(kafka_dlt|parley-dlt)-/.test(name));
  for (const names of [added.slice(0, 4), added.slice(4, 7), added.slice(7)]) say(dim(`      ${names.join('  ')}`));
  const { document } = (await client.request(`/v1/dead-letters/${id}`)).body.content;
  const [first, ...rest] = document.lines;
  const lines = [{ ...first, quantity: first.quantity.replace(',', '.') }, ...rest];
  const reason = ['--reason', `decimal comma, checked with ${partner}`];
  const input = JSON.stringify({ ...document, lines });
  await anna.run(['dead-letters', 'edit', id, '--document', '-', ...reason], { input });
  await anna.run(['dead-letters', 'replay', id, ...reason, '--yes']);
  await story.end(number);
  showEnd('mended; what was held followed by itself', await client.timeline(number));
}

async function unreadable(anna, { id, partner }) {
  chapter(`Bytes that are no document, for which ${partner} has written a proper one since`);
  await anna.run(['dead-letters', 'discard', id, '--reason', 'written again, in order', '--yes']);
}

/** What failed for one cause that is gone: all of it at once, by a plan. */
async function byPhone(story, anna, { fingerprint, partner }) {
  chapter(
    `${partner} sent goods for ${BY_PHONE.length} orders agreed by phone. They are placed only now; then all at once`,
  );
  await Promise.all(
    BY_PHONE.map(async (name) => {
      await story.place(name, partner, 1);
      await story.until(name, ({ state }) => state === 'accepted');
    }),
  );
  const reason = ['--reason', 'the orders are placed now'];
  await anna.run(['dead-letters', 'replay', '--group', fingerprint, ...reason, '--yes']);
  for (const name of BY_PHONE) await story.end(story.numberOf(name));
}

/** A request that nobody answers: it says what it waits for, and people may stop waiting. */
async function silent({ client, numberOf, system }, anna) {
  const [acme] = system.partners;
  const number = numberOf('silent');
  chapter(`${acme.id} does not answer. In time it would be sent again under the same message id, then called overdue`);
  await anna.run(['orders', 'show', number]);
  const { body } = await client.request(`/v1/orders/${number}/exchanges`);
  const [{ correlationId }] = body.items;
  await anna.run(['orders', 'withdraw', number, correlationId, '--reason', 'settled by telephone']);
}
