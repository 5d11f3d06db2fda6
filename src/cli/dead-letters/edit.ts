import type { Command } from 'commander';
import type { DeadLetterViewDto } from '../../messaging/triage';
import { diffOf, type PatchOperation, valueAt } from '../../platform/json';
import { AppError, messageOf } from '../../platform/errors';
import { ApiClient } from '../api-client';
import { confirmed } from '../confirm';
import { jsonOf, textOf } from '../input-file';
import { hint, print } from '../output';
import { agreed, canAsk, type Consent, reasonFor } from '../terminal/consent';
import { Draft } from './editor';
import { pathOf } from './show';
import { sinceThen } from './since-then';

export interface EditOptions extends Consent {
  document?: string;
  reason?: string;
  unmask: boolean;
  json: boolean;
}

/**
 * Keeps another document for a dead letter: shows what differs, asks, and says what is to be done next. Masks that are left in it stand for what
 * they hide.
 */
export async function editDeadLetter(id: string, options: EditOptions, command: Command): Promise<void> {
  const { document: source, json } = options;
  if (source === undefined && !canAsk(options))
    command.error('parley: Without a terminal there is no editor: give the whole document with --document FILE or -.');
  const api = ApiClient.fromEnvironment();
  const { body: letter, etag = '' } = await looked(api, id, options, command);
  const before = editable(letter);
  const draft = source === undefined ? await Draft.of(`dead-letter-${id}.json`, startOf(letter, before)) : undefined;
  let sent: DeadLetterViewDto;
  try {
    if (source === '-') hint(`The document of message ${id} of ${letter.partner} is read from standard input.`);
    const document = draft ? await edited(draft) : await given(source ?? '-');
    const diff = diffOf(before, document);
    if (diff.length === 0) throw new AppError('edit-unchanged', 'Nothing is changed: it is the same document.');
    const plan = [`Message ${id} of ${letter.partner} would be applied with`, ...diffLines(before, diff)];
    if (canAsk(options)) await agreed({ plan, question: 'Keep this?' }, options, command);
    else plan.forEach(hint);
    const body = { document, reason: await reasonFor(options.reason, options, command) };
    sent = await api
      .ask<DeadLetterViewDto>('POST', `${pathOf(id)}/edits`, { body, headers: { 'if-match': etag } })
      .then(({ body: view }) => view, sinceThen(api, letter));
  } catch (error) {
    throw kept(error, id, draft?.file);
  }
  await draft?.remove();
  report(sent, json);
}

function looked(api: ApiClient, id: string, { unmask, reason }: EditOptions, command: Command) {
  if (!unmask) return api.ask<DeadLetterViewDto>('GET', pathOf(id));
  if (reason === undefined) command.error('parley: --unmask takes a --reason: the audit keeps who saw it, and why.');
  return api.ask<DeadLetterViewDto>('POST', `${pathOf(id)}/unmasking`, { body: { reason } });
}

/** What stands in for the message now: the edit that counts, else what it holds; null where that cannot be read. */
function editable({ id, state, content, edits }: DeadLetterViewDto): unknown {
  if (content === null)
    throw new AppError('forbidden', 'This key may not see documents, so it cannot edit one.', {
      hint: 'Use a key with the role operator.',
    });
  if (state !== 'dead')
    throw new AppError('parked-not-dead', `Message ${id} is no dead letter; it is ${state}.`, {
      hint: `See what became of it: parley dead-letters show ${id}`,
    });
  return edits.find(({ current }) => current)?.document ?? content.document ?? null;
}

/** What the editor begins with; of a record that is no JSON at all its text, to be mended. */
function startOf({ content }: DeadLetterViewDto, before: unknown): string {
  if (before !== null) return `${JSON.stringify(before, undefined, 2)}\n`;
  if (content?.raw?.base64 === null)
    hint('What it holds cannot be read, and is shown with --unmask --reason "…" only.');
  return content?.raw?.text && !content.raw.truncated ? content.raw.text : '{}\n';
}

async function edited(draft: Draft): Promise<unknown> {
  for (;;) {
    const text = await draft.edit();
    try {
      return jsonOf(text, 'what you wrote');
    } catch (error) {
      hint(messageOf(error));
      if (!(await confirmed('Edit it again?'))) throw error;
    }
  }
}

const UNREADABLE = {
  code: 'file-unreadable',
  hint: 'Name a file that you may read, or - for standard input.',
};

async function given(source: string): Promise<unknown> {
  return jsonOf(await textOf(source, UNREADABLE), source === '-' ? 'standard input' : source);
}

/** `~ /lines/0/quantity: "1,5" → "1.5"`. */
export function diffLines(before: unknown, diff: readonly PatchOperation[]): string[] {
  return diff.map((change) => {
    const old = JSON.stringify(valueAt(before, change.path));
    if (change.op === 'remove') return `  - ${change.path}: ${old}`;
    const value = JSON.stringify(change.value);
    if (change.op === 'add' || old === undefined) return `  + ${change.path || 'all of it'}: ${value}`;
    return `  ~ ${change.path || 'all of it'}: ${old} → ${value}`;
  });
}

/** Nobody types a document twice: says where the text is. */
function kept(error: unknown, id: string, file: string | undefined): unknown {
  if (file === undefined || !(error instanceof AppError)) return error;
  const where = `Your text is kept: parley dead-letters edit ${id} --document ${file}`;
  return new AppError(error.code, error.message, {
    retriable: error.retriable,
    cause: error.cause,
    hint: error.hint ? `${error.hint}\n${where}` : where,
  });
}

function report(letter: DeadLetterViewDto, json: boolean): void {
  const edit = letter.edits.at(-1);
  print(json, letter, [`message ${letter.id}: edit ${edit?.id} ${edit?.state}`]);
  if (json) return;
  if (edit?.state === 'pending')
    hint(`A second person agrees first: parley dead-letters approve ${letter.id} ${edit.id}, or refuse`);
  else hint(`Next: parley dead-letters replay ${letter.id}`);
}
