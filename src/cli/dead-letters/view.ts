import type { DeadLetterViewDto } from '../../messaging/triage';
import type { TimelineDto } from '../../orders';
import { timelineLines } from '../orders.command';
import { facts, table } from '../terminal/table';
import { counted, localTime } from '../terminal/words';
import { documentLines } from './document';

/** Longest text of a record that cannot be read which is shown; --raw has all. */
const MOST_TEXT = 4_000;

/** All that is known of a dead letter, for people. */
export function viewLines(letter: DeadLetterViewDto, timeline: TimelineDto | null): string[] {
  return [
    ...headLines(letter),
    ...section('Document', contentLines(letter)),
    ...section('Headers', headerLines(letter)),
    ...section('Attempts', table(ATTEMPTS, letter.attemptLog)),
    ...section('Edits', table(EDITS, letter.edits)),
    ...section('Replays', table(REPLAYS, letter.replays)),
    ...section(`Order ${timeline?.orderNumber}: ${timeline?.state}`, timeline ? timelineLines(timeline.steps) : []),
  ];
}

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ['', title, ...lines];

function headLines(letter: DeadLetterViewDto): string[] {
  const { state, version, pointer, detail, code, failedIn, deadLetterTopic: copy, assignee, fingerprint } = letter;
  const published = copy.publishedAt ? `since ${localTime(copy.publishedAt)}` : (copy.trouble ?? 'not yet');
  return facts([
    ['message', letter.id],
    ['state', `${state} (version ${version})`],
    ['partner', letter.partner],
    ['order', letter.key],
    ['document', letter.contract ?? letter.type],
    ['failed for', [code, pointer && `at ${pointer}`, failedIn && `(${failedIn})`].filter(Boolean).join(' ')],
    ['why', detail],
    ['root cause', letter.rootCause],
    ['failed first', localTime(letter.firstFailedAt)],
    ['failed last', localTime(letter.lastFailedAt)],
    ['attempts', letter.attempts],
    ['next attempt', localTime(letter.nextAttemptAt)],
    ['holds', letter.held > 0 ? `${letter.held} later of its order` : null],
    ['group', fingerprint && `${fingerprint}${assignee ? `, ${assignee} works on it` : ''}`],
    ['place', `${letter.topic}/${letter.partition} at ${letter.offset}`],
    ['message id', letter.messageId],
    ['exchange', letter.correlationId],
    ['copy', `${copy.topic}/${copy.partition}: ${published}`],
    ['resolved', letter.resolvedAt && `${localTime(letter.resolvedAt)} by ${letter.resolvedBy}: ${letter.resolution}`],
  ]);
}

function contentLines({ id, content, pointer, detail }: DeadLetterViewDto): string[] {
  if (content === null) return ['  It is shown to the role support and above.'];
  const { document, raw, trouble } = content;
  const unmask = `parley dead-letters show ${id} --unmask --reason "…"`;
  if (document !== null && document !== undefined) {
    const masks = content.hidden.filter((place) => place.startsWith('/')).length;
    return [
      ...documentLines(document, pointer),
      ...(pointer === null ? [] : [`  > ${pointer}: ${detail}`]),
      ...(masks === 0 ? [] : [`  ${counted(masks, 'place')} masked: ${unmask}`]),
    ];
  }
  const why = trouble ? `  It cannot be read: ${trouble.detail} (${trouble.code})` : '  It cannot be read.';
  if (raw === null) return ['  The record has no value: it is a tombstone.'];
  if (raw.base64 === null) return [why, `  ${raw.length} bytes, which may hold personal data: ${unmask}`];
  if (raw.text === null) return [why, `  ${raw.length} bytes: parley dead-letters show ${id} --raw FILE`];
  return [
    why,
    ...raw.text
      .slice(0, MOST_TEXT)
      .split(/\r?\n/)
      .map((line) => `  ${line}`),
  ];
}

const headerLines = ({ content }: DeadLetterViewDto): string[] =>
  facts(
    (content?.headers ?? []).map(({ name, text, base64 }) => [
      `  ${name}`,
      text ?? (base64 === null ? 'hidden' : `base64 ${base64}`),
    ]),
  );

const ATTEMPTS = [
  { title: '  AT', of: ({ at }: DeadLetterViewDto['attemptLog'][number]) => `  ${localTime(at)}` },
  { title: 'CODE', of: ({ code }: DeadLetterViewDto['attemptLog'][number]) => code },
  { title: 'WHY', of: ({ detail }: DeadLetterViewDto['attemptLog'][number]) => detail },
];

type Edit = DeadLetterViewDto['edits'][number];
const EDITS = [
  { title: '  EDIT', of: ({ id }: Edit) => `  ${id}` },
  { title: 'STATE', of: ({ state, current }: Edit) => (current ? `${state}, counts` : state) },
  { title: 'MADE', of: ({ madeAt }: Edit) => localTime(madeAt) },
  { title: 'BY', of: ({ madeBy }: Edit) => madeBy },
  { title: 'DECIDED BY', of: ({ decidedBy }: Edit) => decidedBy },
  { title: 'REASON', of: ({ reason }: Edit) => reason },
];

type Replay = DeadLetterViewDto['replays'][number];
const REPLAYS = [
  { title: '  REPLAY', of: ({ id }: Replay) => `  ${id}` },
  { title: 'STATE', of: ({ state }: Replay) => state },
  { title: 'OUTCOME', of: ({ outcome }: Replay) => outcome },
  { title: 'AT', of: ({ at }: Replay) => localTime(at) },
  { title: 'WHY', of: ({ code, detail }: Replay) => [code, detail].filter(Boolean).join(': ') },
];
