import { randomUUID } from 'node:crypto';
import { type AnyContract, restore } from '../../contracts';
import type { Clock } from '../../platform/clock';
import type { Database, Tx } from '../../platform/database';
import { AppError, type Violation } from '../../platform/errors';
import { versionStale } from '../../platform/http';
import { audit, type Caller } from '../../staff';
import type { ParkedDesk } from '../consumer';
import { JsonCodec } from '../registry';
import type { DeadLetter } from './dead-letter';
import type { DeadLetterList, LetterContent } from './dead-letter-list';
import type { DocumentReader } from './document-reader';
import { type PatchOperation, pointerOf, unstorableAt } from '../../platform/json';
import { editDiff, seenChange } from './edit-diff';
import { editsOf } from './edits';
import { editInvalid, editUnknown, notMendable, parkedNotDead, parkedUnknown } from './refusals';

export interface MendingParts {
  desk: ParkedDesk;
  list: DeadLetterList;
  reader: DocumentReader;
}

/** The rules of a contract are the same in every format; as JSON they need no registry. */
const rules = new JsonCodec();

/** What staff do to a single dead letter. Every deed is audited in its transaction. */
export class Mending {
  /** @param needsApproval does an edit count only when a second person agrees? */
  constructor(
    private readonly database: Database,
    private readonly parts: MendingParts,
    private readonly needsApproval: boolean,
    private readonly clock: Clock,
  ) {}

  /**
   * Keeps a document that is applied in place of the message's bytes from now on, or from its approval on; its masks stand for what would be
   * applied now. Throws `parked-unknown`,
   * `parked-not-dead`, `version-stale`, `edit-impossible`, and `edit-invalid` with violations.
   */
  async edit(id: string, version: number, sent: object, reason: string, by: Caller): Promise<void> {
    const letter = await this.found(id, by);
    if (letter.version !== version) throw versionStale();
    if (letter.state !== 'dead') throw parkedNotDead(letter.state);
    const { document, diff } = await this.checked(id, sent);
    const messageId = randomUUID();
    const state = this.needsApproval ? 'pending' : 'approved';
    await this.database.transaction(async (tx) => {
      const now = this.clock.now();
      const edit = { parkedId: id, messageId, document, diff, reason, madeBy: by.id, state } as const;
      const editId = await this.parts.desk.edit(tx, edit, version, now);
      // Which places changed, never to what: the book is for ever.
      const detail = {
        edit: editId,
        state,
        messageId,
        changed: diff.slice(0, 100).map(({ op, path }) => `${op} ${path}`),
      };
      await this.book(tx, 'dead-letter.edit', letter, by, reason, detail);
    });
  }

  /** A second person agrees or refuses. Throws `edit-unknown`, `edit-decided`, `edit-own`. */
  async decide(
    id: string,
    editId: string,
    verdict: 'approved' | 'refused',
    reason: string | undefined,
    by: Caller,
  ): Promise<void> {
    const letter = await this.found(id, by);
    const edits = await editsOf(this.database, id);
    if (!edits.some((edit) => edit.id === editId)) throw editUnknown();
    await this.database.transaction(async (tx) => {
      await this.parts.desk.decide(tx, editId, verdict, by.id, this.clock.now());
      const action = verdict === 'approved' ? 'dead-letter.approve-edit' : 'dead-letter.refuse-edit';
      await this.book(tx, action, letter, by, reason, { edit: editId });
    });
  }

  /** Nobody wants it; what waited behind it follows. Throws `parked-unknown`, `parked-not-dead`, `version-stale`. */
  discard(id: string, version: number, reason: string, by: Caller): Promise<void> {
    return this.resolve('discard', id, version, reason, by);
  }

  /** It is a dead letter again. Throws `parked-unknown`, `parked-not-discarded`, `version-stale`. */
  restore(id: string, version: number, reason: string, by: Caller): Promise<void> {
    return this.resolve('restore', id, version, reason, by);
  }

  private async resolve(
    verb: 'discard' | 'restore',
    id: string,
    version: number,
    reason: string,
    by: Caller,
  ): Promise<void> {
    const letter = await this.found(id, by);
    await this.database.transaction(async (tx) => {
      await this.parts.desk[verb](tx, id, version, { caller: by.id, reason }, this.clock.now());
      await this.book(tx, `dead-letter.${verb}`, letter, by, reason);
    });
  }

  private async found(id: string, by: Caller): Promise<DeadLetter> {
    const letter = await this.parts.list.find(id, by.partners);
    if (!letter) throw parkedUnknown();
    return letter;
  }

  /** The document that is meant and its difference to the original, once all is well with it. */
  private async checked(id: string, sent: object): Promise<{ document: object; diff: PatchOperation[] }> {
    const content = await this.parts.list.content(id);
    if (!content) throw parkedUnknown();
    const { contract, document: original } = await this.parts.reader.read(content);
    if (!contract || contract.direction !== 'in') throw notMendable();
    const edits = await editsOf(this.database, id);
    const current = edits.find((edit) => edit.current);
    const applied = current ? current.document : (original ?? null);
    const document = meant(contract, sent, applied);
    const violation = (await violationOf(contract, document)) ?? keyViolation(contract, document, content);
    if (violation) throw editInvalid(contract.name, violation);
    // As it is shown: a refusal that knew what is hidden would tell who guesses it, and the audit would not hear of that.
    if (seenChange(contract, applied, sent).length === 0) {
      throw editInvalid(contract.name, { pointer: '/document', detail: 'is what would be applied anyway' });
    }
    return { document, diff: editDiff(contract, { original: original ?? null, applied }, sent, document, current) };
  }

  private book(
    tx: Tx,
    action: string,
    letter: DeadLetter,
    by: Caller,
    reason: string | undefined,
    detail?: Record<string, unknown>,
  ): Promise<void> {
    const object = `dead-letter/${letter.id}`;
    return audit(tx, { by, action, object, partner: letter.partner, reason, detail }, this.clock.now());
  }
}

/** The document with what its masks stand for: nobody is ever told a mask. */
function meant(contract: AnyContract, sent: object, applied: unknown): object {
  const { document, unresolved } = restore(contract, sent, applied);
  const [stray] = unresolved;
  if (!stray) return document as object;
  throw editInvalid(contract.name, {
    pointer: `/document${pointerOf(stray)}`,
    detail: 'is a mask, and nothing is hidden there: give the value, or leave it out',
  });
}

/** The rule that the document breaks, pointed at within the request's body. */
async function violationOf(contract: AnyContract, document: unknown): Promise<Violation | undefined> {
  const unstorable = unstorableAt(document);
  if (unstorable !== undefined) {
    return { pointer: `/document${unstorable}`, detail: 'holds NUL or half a character, which is no text' };
  }
  try {
    await rules.encode(contract, { topic: contract.topic, format: 'json' }, document);
    return undefined;
  } catch (error) {
    const [violation] = error instanceof AppError ? error.violations : [];
    if (!violation) throw error;
    return { ...violation, pointer: `/document${violation.pointer}` };
  }
}

/** Another key would be another order's history: what waits behind this message waits under its key. */
function keyViolation(contract: AnyContract, document: object, { rawKey }: LetterContent): Violation | undefined {
  const named = (document as Record<string, unknown>)[contract.key];
  if (rawKey === null || rawKey.equals(Buffer.from(String(named)))) return undefined;
  return { pointer: `/document/${contract.key}`, detail: "must stay the record's key" };
}
