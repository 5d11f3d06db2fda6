import { readJournal } from './compare.mjs';
import { showSteps, showVerdict, showWords } from './report.mjs';
import { eventually, Story } from './story.mjs';
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
  const story = new Story(system, client, 'STORY');
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
  showReport(await reportTo(acme, system), acme);
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

/** The error report that the partner has read about its garbage. */
function reportTo(partner, system) {
  return eventually(`the error report to ${partner}`, () => {
    const journal = readJournal(system.journal);
    const garbage = journal.find(({ order, code }) => order === 'STORY-garbage' && code === 'garbage');
    return journal.find(
      (line) => line.kind === 'reported' && line.partner === partner && line.messageId === garbage?.id,
    );
  });
}

const showAnswer = ({ steps }, wanted) => showWords(steps.find(({ step }) => step === wanted)?.text ?? '-');

function showReport({ topic, partition, offset, code, detail }, partner) {
  say(`  ${partner} wrote bytes that are no document: only they are put aside, and errors.${partner}.v1 tells it`);
  say(dim(`    ${topic} [${partition}] @${offset}: ${code}`));
  showWords(detail);
}
