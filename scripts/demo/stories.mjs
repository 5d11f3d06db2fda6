import { setTimeout as delay } from 'node:timers/promises';
import { byOrder, readJournal } from './compare.mjs';
import { isSettled } from './expectation.mjs';
import { orderOf } from './orders.mjs';
import { showSteps, showVerdict, showWords } from './report.mjs';
import { dim, say, title } from './terminal.mjs';

/** What the partners do in these stories, by order number, for the simulator. */
export const STORY_RULES = [
  ...['--rule', 'STORY-ship=ship', '--rule', 'STORY-over=over-ship', '--rule', 'STORY-garbage=garbage'],
  ...['--rule', 'STORY-*=accept', '--cancellation-rule', 'STORY-keep=refuse', '--cancellation-rule', 'STORY-*=agree'],
];
/** Whether both cross is a matter of milliseconds: so many tries. */
const TRIES = 20;

/** Places the orders whose goods take a while to leave. */
export async function beginStories(system, client) {
  const [acme, globex, initech] = system.partners.map(({ id }) => id);
  const story = new Story(system, client);
  await story.place('ship', globex, 3);
  await story.place('over', initech, 1);
  await story.place('garbage', acme, 1);
  return story;
}

/** One order for each thing that can happen beside an answer. Returns whether all is well. */
export async function storyPart(story, ledger) {
  title('Cancellations, despatches, and a record that is no document');
  const { system } = story;
  const [acme, globex, initech] = system.partners.map(({ id }) => id);
  await Promise.all(
    ['agree', 'keep'].map(async (name, index) => {
      await story.place(name, [acme, globex][index], 1);
      await story.until(name, (order) => order.state === 'accepted');
      await story.cancel(name);
    }),
  );
  const crossed = await cross(story, initech);
  const timelines = await story.settled();
  ledger.add({ accepted: story.accepted, asked: story.asked, timelines });
  const of = (name) => timelines.get(`STORY-${name}`);
  showSteps(`${acme} agrees to cancel`, of('agree'));
  showSteps(`${globex} refuses to cancel`, of('keep'));
  showAnswer(of('keep'), 'cancellation-refused');
  if (crossed) showSteps('cancellation and acceptance cross', of(crossed));
  else say(`  no cancellation crossed an acceptance in ${TRIES} tries`);
  showSteps(`${globex} ships in two parts`, of('ship'));
  showSteps(`${initech} ships too much, then what was ordered`, of('over'));
  showAnswer(of('over'), 'despatch-refused');
  showReport(await story.report(acme), acme);
  return showVerdict(ledger.compare(system.journal, 'STORY'), story.accepted.size);
}

/** Cancels orders as soon as they are accepted, until one's acceptance was on its way to us when we asked. */
async function cross(story, partner) {
  for (let attempt = 1; attempt <= TRIES; attempt++) {
    const name = `cross-${attempt}`;
    await story.place(name, partner, 1);
    await story.cancel(name);
    await story.until(name, (order) => order.state === 'cancelled');
    const { steps } = await story.client.timeline(`STORY-${name}`);
    const at = (wanted) => steps.findIndex(({ step }) => step === wanted);
    if (at('accepted') > at('cancellation-requested')) return name;
  }
  return undefined;
}

class Story {
  accepted = new Set();
  asked = new Set();

  constructor(system, client) {
    this.system = system;
    this.client = client;
  }

  async place(name, partner, lines) {
    const { orderNumber } = await this.client.place(orderOf(`STORY-${name}`, partner, lines));
    this.accepted.add(orderNumber);
  }

  async cancel(name) {
    if (await this.client.cancel(`STORY-${name}`, 'ordered twice')) this.asked.add(`STORY-${name}`);
  }

  async until(name, condition) {
    await eventually(`STORY-${name}`, async () => {
      const order = await this.client.order(`STORY-${name}`);
      return order !== undefined && condition(order);
    });
  }

  /** Waits until all of it has come to its end on both sides; returns the timelines. */
  async settled() {
    for (const number of this.accepted) {
      await eventually(number, async () => {
        const order = await this.client.order(number);
        return order && isSettled(order, byOrder(readJournal(this.system.journal)).get(number) ?? []);
      });
    }
    return this.client.timelines([...this.accepted]);
  }

  /** The error report that the partner has read about its garbage. */
  async report(partner) {
    const find = () => {
      const journal = readJournal(this.system.journal);
      const garbage = journal.find(({ order, code }) => order === 'STORY-garbage' && code === 'garbage');
      return journal.find(
        (line) => line.kind === 'reported' && line.partner === partner && line.messageId === garbage?.id,
      );
    };
    await eventually(`the error report to ${partner}`, () => Promise.resolve(find()));
    return find();
  }
}

async function eventually(what, condition) {
  for (const deadline = Date.now() + 30_000; !(await condition()); await delay(20)) {
    if (Date.now() > deadline) throw new Error(`${what} did not come to its end within 30 s.`);
  }
}

const showAnswer = ({ steps }, wanted) => showWords(steps.find(({ step }) => step === wanted)?.text ?? '-');

function showReport({ topic, partition, offset, code, detail }, partner) {
  say(`  ${partner} wrote bytes that are no document: only they are put aside, and errors.${partner}.v1 tells it`);
  say(dim(`    ${topic} [${partition}] @${offset}: ${code}`));
  showWords(detail);
}
